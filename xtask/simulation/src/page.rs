//! The page of the documentation that holds the tables.

use std::fmt::Write as _;

use crate::table::{Row, Share, Table};

/// The page, from the root of the repository.
pub const PATH: &str = "docs/statistics.md";

const BEGIN: &str = "<!-- simulation -->\n";
const END: &str = "<!-- end of simulation -->\n";

/// The page with these tables in the place of those it has; `None` when it has no such place.
pub fn with_tables(page: &str, tables: &[Table]) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}{END}{after}", sections(tables)))
}

/// The tables as Markdown.
pub fn sections(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        let study = table.study;
        let _ = writeln!(text, "### {}\n\n{}\n", study.title, study.about);
        let names = study.settings.iter().chain(study.counted);
        let _ = writeln!(text, "| {} |", names.copied().collect::<Vec<_>>().join(" | "));
        let columns = study.settings.iter().map(|_| "---").chain(study.counted.iter().map(|_| "--:"));
        let _ = writeln!(text, "|{}|", columns.collect::<Vec<_>>().join("|"));
        for row in &table.rows {
            let cells = row.setting.iter().cloned().chain(row.shares.iter().map(|it| cell(*it, table.draws)));
            let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text.push('\n');
    }
    text
}

/// The beginning of a row, which does not depend on the draws.
pub fn beginning(row: &Row) -> String {
    format!("| {} |", row.setting.join(" | "))
}

/// A share in per cent; what falls short of its promise is bold.
fn cell(share: Option<Share>, draws: u64) -> String {
    let Some(share) = share else { return String::new() };
    let text = format!("{:.1}", share.value * 100.0);
    if share.falls_short(draws) { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates;
    use crate::table::{Scale, Table};

    #[test]
    fn tables_take_the_place_of_older_ones() {
        let table = || Table { study: &rates::STUDY, draws: Scale::FULL.draws, rows: Vec::new() };
        let page = format!("# Title\n\n{BEGIN}former\n{END}\nrest\n");
        let new = with_tables(&page, &[table()]).expect("it has a place");
        assert!(new.starts_with("# Title\n") && new.ends_with("\nrest\n") && !new.contains("former"), "{new}");
        assert_eq!(with_tables(&new, &[table()]).as_ref(), Some(&new));
        assert_eq!(with_tables("# Title\n", &[table()]), None);
    }
}
