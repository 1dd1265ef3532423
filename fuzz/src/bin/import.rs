//! Any bytes are imported or refused, in memory and piece by piece, and whatever is made of them can be written.

#![no_main]

use jurat_import::{By, Input, NoFolder, Options, Unfinished, import};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let whole = Input::new("input", bytes.to_vec());
    let pieces = Input::streamed("input", Box::new(bytes.to_vec()));
    for input in [whole, pieces].into_iter().flatten() {
        let inputs = [input];
        for by in [By::Trace, By::Agent, By::Session] {
            let options = Options { by, unfinished: Unfinished::TimedOut, ..Options::default() };
            let Ok(imported) = import(&inputs, None, &NoFolder, &options) else { continue };
            for file in &imported.files {
                file.text().expect("what was made is text");
            }
        }
    }
});
