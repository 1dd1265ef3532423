//! Laws of addresses, and what is said of wrong ones.

use proptest::prelude::*;

use super::*;

fn any_text() -> impl Strategy<Value = String> {
    "(a|~|\\.|/|%|é|,|\\\\|&|=|\\+| |\\.json|\\PC){1,6}"
}

fn maybe_text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(any_text())
}

fn any_sort() -> impl Strategy<Value = Sort> {
    let plain = [Sort::Input, Sort::Id, Sort::Verdict, Sort::Took, Sort::Cost, Sort::Tokens, Sort::Latency];
    prop_oneof![
        proptest::sample::select(plain.to_vec()),
        any_text().prop_map(Sort::Score),
        any_text().prop_map(Sort::Label)
    ]
}

fn any_variant() -> impl Strategy<Value = VariantName> {
    (maybe_text(), maybe_text(), proptest::option::of(1_u32..9)).prop_map(|(prompt, subject, replicate)| VariantName {
        prompt,
        subject,
        replicate,
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_text(), 0..3)
}

fn maybe_place() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(0_u32..99)
}

fn any_look() -> impl Strategy<Value = Look> {
    (0_usize..4, any::<bool>(), 0_u64..99).prop_map(|(evidence, is_side_by_side, asked)| Look {
        evidence: EvidenceForm::ALL[evidence],
        is_side_by_side,
        asked,
    })
}

fn any_page() -> impl Strategy<Value = RunPage> {
    let order = || (any_sort(), any::<bool>());
    let q = || "|(a|é|:|=| |\"|\\PC){1,6}";
    prop_oneof![
        Just(RunPage::Overview),
        (q(), order(), any::<u64>(), 25_u32..=500, texts(), any::<u64>()).prop_map(
            |(q, (sort, descending), from, n, cols, scan)| {
                RunPage::Cases(Cases { q, sort, descending, from, n, cols, scan })
            }
        ),
        (
            any_text(),
            any_variant(),
            maybe_text(),
            proptest::option::of(1_u32..99),
            (0_u64..99, maybe_text(), any_look()),
            q(),
            order()
        )
            .prop_map(|(id, variant, task, turn, (from, only, look), q, (sort, descending))| {
                RunPage::Case(Case { id, variant, task, turn, from, only, look, q, sort, descending })
            }),
        (any_text(), any_variant(), q()).prop_map(|(id, variant, part)| RunPage::Text(Text { id, variant, part })),
        (q(), any::<bool>()).prop_map(|(q, is_csv)| {
            let kind = if is_csv { TableKind::Csv } else { TableKind::JsonLines };
            RunPage::Table(Table { kind, q })
        }),
        Just(RunPage::Graph),
        (texts(), 0_u64..99, 0_u64..9).prop_map(|(by, least, from)| RunPage::Slices(Slices { by, least, from })),
        Just(RunPage::Cost),
        (maybe_text(), maybe_text()).prop_map(|(task, subject)| RunPage::Flaky(Flaky { task, subject })),
        (maybe_text(), 1_u32..99, any::<u64>(), any::<bool>(), maybe_place(), maybe_place())
            .prop_map(|(task, n, seed, blind, at, after)| RunPage::Label(Label { task, n, seed, blind, at, after })),
        (any_text(), any_variant(), 0_u32..9).prop_map(|(id, variant, ix)| RunPage::Output(Output { id, variant, ix })),
        Just(RunPage::Events),
    ]
}

fn any_route() -> impl Strategy<Value = Route> {
    let q = || "|(a|é|:|=| |\"|\\PC){1,6}";
    prop_oneof![
        (maybe_text(), q(), 0_u64..99).prop_map(|(suite, q, from)| Route::Runs(Runs { suite, q, from })),
        (any_text(), any_page()).prop_map(|(run, page)| Route::Run { run, page }),
        (any_text(), texts(), q(), 0_u64..99).prop_map(|(base, new, q, from)| Route::Compare(Compare {
            base,
            new,
            q,
            from
        })),
        (any_text(), any_variant(), any_text(), texts())
            .prop_map(|(id, variant, base, new)| Route::CompareCase(CompareCase { id, variant, base, new })),
        Just(Route::Events),
        Just(Route::Labels),
    ]
}

proptest! {
    #[test]
    fn a_printed_address_reads_back_the_same(route in any_route(), is_json in any::<bool>()) {
        let form = if is_json { Form::Json } else { Form::Html };
        let address = Address { route, form };
        let printed = address.to_string();
        prop_assert!(printed.bytes().all(|it| it.is_ascii_graphic()), "{}", printed);
        let (path, query) = printed.split_once('?').map_or((printed.as_str(), None), |(path, query)| (path, Some(query)));
        prop_assert_eq!(Address::parse(path, query), Ok(address), "{}", printed);
    }
}

#[track_caller]
fn read(address: &str, expected: &str) {
    let (path, query) = address.split_once('?').map_or((address, None), |(path, query)| (path, Some(query)));
    let read = Address::parse(path, query).map_or_else(|error| error.to_string(), |it| it.to_string());
    assert_eq!(read, expected);
}

#[test]
fn what_is_wrong_with_an_address_is_said() {
    read("/", "/");
    read("/.json", "/.json");
    read("/runs/latest/cases.json?q=verdict%3Afailed&n=100", "/runs/latest/cases.json?q=verdict:failed");
    read("/runs/x/cases?q=a+b&whatever=1", "/runs/x/cases?q=a%20b");
    read("/runs/x/cases?n=3", "`n` cannot be `3`: it takes a number from 25 to 500");
    read("/runs/x/cases?dir=up", "`dir` cannot be `up`: it takes `asc` or `desc`");
    read(
        "/runs/x/cases?sort=colour",
        "`sort` cannot be `colour`: it takes `input`, `id`, `verdict`, `took`, `cost`, `tokens`, `latency`, `score:TASK` or `label:TASK`",
    );
    read("/runs/x/cases/a?turn=0", "`turn` cannot be `0`: it takes a number from 1");
    read("/runs/x/cases/a?evidence=json&diff=sides&asked=25", "/runs/x/cases/a?evidence=json&diff=sides&asked=25");
    read("/runs/x/cases/a?evidence=tree&diff=inline", "/runs/x/cases/a");
    read("/runs/x/cases/a?evidence=xml", "`evidence` cannot be `xml`: it takes `tree`, `json`, `text` or `markdown`");
    read("/runs/x/cases/a?diff=both", "`diff` cannot be `both`: it takes `inline` or `sides`");
    read("/compare?run=2026-b&run=2026-a", "/compare?base=2026-a&new=2026-b");
    read("/elsewhere", "there is no page at this address");
    read("/runs", "there is no page at this address");
    read("/runs/x/cases/%ff", "there is no page at this address");
}
