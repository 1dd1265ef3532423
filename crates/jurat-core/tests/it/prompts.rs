//! A prompt is filled once: what a value holds is never looked at again.

use jurat_core::prompt::Prompt;
use jurat_format::value::{Context, Val};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::arbitrary;

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn values_are_never_expanded(
        parts in vec((arbitrary::text().prop_filter("a hole", |it| !it.contains(['$', '{', '}'])), any::<bool>()), 0..5),
        text in prop_oneof![Just("${other}".to_owned()), Just("${value} ${value}".to_owned()), arbitrary::text()],
        other in arbitrary::value(),
    ) {
        let base = Val::Map([("value", Val::from(text.clone())), ("other", other.clone())].into_iter().collect());
        let other = other.as_str().map_or_else(|| other.to_json(), str::to_owned);
        let (mut written, mut expected) = (String::new(), String::new());
        for (part, is_text) in &parts {
            written += &format!("{part}${{{}}}", if *is_text { "value" } else { "other" });
            expected += &format!("{part}{}", if *is_text { &text } else { &other });
        }
        let prompt = Prompt::parse(written);
        prop_assert_eq!(prompt.holes().len(), parts.len());
        prop_assert_eq!(prompt.bound(Context::of(&base)).ok(), Some(expected));
    }

    #[test]
    fn a_prompt_accounts_for_its_text(text in vec(arbitrary::text(), 0..5).prop_map(|it| it.concat())) {
        let prompt = Prompt::parse(text.clone());
        prop_assert_eq!(prompt.text(), &text);
        for range in prompt.holes().iter().map(|it| &it.range).chain(prompt.literals()) {
            let written = text.get(range.clone());
            prop_assert!(written.is_some_and(|it| it.starts_with("${") && it.ends_with('}')), "{:?} of {:?}", range, text);
        }
        if prompt.holes().is_empty() {
            let base = Val::Null;
            prop_assert_eq!(prompt.bound(Context::of(&base)).ok(), Some(text));
        }
    }
}
