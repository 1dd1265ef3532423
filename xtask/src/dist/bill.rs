//! The bill of materials (SBOM), in the format `CycloneDX` 1.6: every crate that is compiled into the command or the Python
//! package, with its version, licence, checksum and what it depends on.
//!
//! It is made from what `cargo metadata` resolves for the platform, without what only tests use.

use std::collections::{BTreeMap, BTreeSet};

use chores::chore::Failure;
use serde_json::{Value, json};

/// What is published, and so what the bill starts from.
const PUBLISHED: [&str; 2] = ["jurat-cli", "jurat-python"];

/// The bill of the packages that cargo knows, with checksums from the text of the lock file.
pub(super) fn of(metadata: &Value, lock: &str) -> Result<String, Failure> {
    let packages = Packages::read(metadata).ok_or_else(|| Failure::new("`cargo metadata` has no packages"))?;
    let checksums = checksums(lock);
    let used = packages.used();
    let components: Vec<Value> = used.iter().filter_map(|id| packages.component(id, &checksums)).collect();
    let dependencies: Vec<Value> = used.iter().map(|id| packages.dependencies(id)).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "jurat", "version": packages.version() } },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

/// The packages by their ids, and what each is built from.
struct Packages<'m> {
    by_id: BTreeMap<&'m str, &'m Value>,
    needs: BTreeMap<&'m str, Vec<&'m str>>,
}

impl<'m> Packages<'m> {
    fn read(metadata: &'m Value) -> Option<Packages<'m>> {
        let packages = metadata["packages"].as_array()?;
        let nodes = metadata["resolve"]["nodes"].as_array()?;
        Some(Packages {
            by_id: packages.iter().filter_map(|it| Some((it["id"].as_str()?, it))).collect(),
            needs: nodes.iter().filter_map(|it| Some((it["id"].as_str()?, needs(it)))).collect(),
        })
    }

    fn version(&self) -> &Value {
        let published = self.by_id.values().find(|it| it["name"] == PUBLISHED[0]);
        published.map_or(&Value::Null, |it| &it["version"])
    }

    /// The ids of everything that what is published is built from.
    fn used(&self) -> BTreeSet<&'m str> {
        let published = |it: &&Value| PUBLISHED.iter().any(|name| it["name"] == *name);
        let mut open: Vec<&str> = self.by_id.iter().filter(|(_, it)| published(it)).map(|(id, _)| *id).collect();
        let mut used = BTreeSet::new();
        while let Some(id) = open.pop() {
            if used.insert(id) {
                open.extend(self.needs.get(id).into_iter().flatten());
            }
        }
        used
    }

    fn component(&self, id: &str, checksums: &BTreeMap<(&str, &str), &str>) -> Option<Value> {
        let package = self.by_id.get(id)?;
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(name, version),
            "name": name,
            "version": version,
            "purl": reference(name, version),
        });
        if let Some(licence) = package["license"].as_str() {
            // Crates of before 2019 separate the choices by `/`, which is no expression of SPDX.
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(checksum) = checksums.get(&(name, version)) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        Some(component)
    }

    fn dependencies(&self, id: &str) -> Value {
        let needs = self.needs.get(id).into_iter().flatten();
        let needs: BTreeSet<String> = needs.filter_map(|it| self.reference(it)).collect();
        json!({ "ref": self.reference(id), "dependsOn": needs })
    }

    fn reference(&self, id: &str) -> Option<String> {
        let package = self.by_id.get(id)?;
        Some(reference(package["name"].as_str()?, package["version"].as_str()?))
    }
}

fn reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

/// What a node is built from: what only its tests need is not.
fn needs(node: &Value) -> Vec<&str> {
    let dependencies = node["deps"].as_array().into_iter().flatten();
    let built =
        dependencies.filter(|it| it["dep_kinds"].as_array().is_some_and(|it| it.iter().any(|it| it["kind"] != "dev")));
    built.filter_map(|it| it["pkg"].as_str()).collect()
}

/// The checksums of a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    lock.split("[[package]]")
        .filter_map(|it| Some(((entry(it, "name")?, entry(it, "version")?), entry(it, "checksum")?)))
        .collect()
}

/// `serde` of a line `name = "serde"`.
fn entry<'t>(package: &'t str, key: &str) -> Option<&'t str> {
    let value = |line: &'t str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
    package.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "packages": [
            {"id": "cli", "name": "jurat-cli", "version": "0.1.0", "license": "MIT OR Apache-2.0"},
            {"id": "old", "name": "old", "version": "1.2.3", "license": "MIT/Apache-2.0"},
            {"id": "insta", "name": "insta", "version": "1.49.0", "license": "Apache-2.0"}
        ],
        "resolve": {"nodes": [
            {"id": "cli", "deps": [
                {"pkg": "old", "dep_kinds": [{"kind": null}]},
                {"pkg": "insta", "dep_kinds": [{"kind": "dev"}]}
            ]},
            {"id": "old", "deps": []},
            {"id": "insta", "deps": []}
        ]}
    }"#;
    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"old\"\nversion = \"1.2.3\"\nchecksum = \"abc\"\n";

    fn bill() -> Value {
        let metadata = serde_json::from_str(METADATA).expect("it is JSON");
        let text = of(&metadata, LOCK).expect("there are packages");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn it_lists_what_is_compiled_in_and_not_what_tests_use() {
        let bill = bill();
        let names: Vec<&Value> = bill["components"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["jurat-cli", "old"]);
        assert_eq!(bill["metadata"]["component"]["version"], "0.1.0");
        assert_eq!(
            bill["dependencies"][0],
            json!({ "ref": "pkg:cargo/jurat-cli@0.1.0", "dependsOn": ["pkg:cargo/old@1.2.3"] })
        );
    }

    #[test]
    fn a_crate_has_its_licence_and_its_checksum() {
        let old = &bill()["components"][1];
        assert_eq!(old["licenses"], json!([{ "expression": "MIT OR Apache-2.0" }]));
        assert_eq!(old["hashes"], json!([{ "alg": "SHA-256", "content": "abc" }]));
        assert_eq!(old["purl"], "pkg:cargo/old@1.2.3");
    }
}
