use super::*;

fn parse(text: &str) -> Source {
    Source::parse("sync/src/sample.rs", text.to_owned()).expect("the sample is Rust")
}

fn memories(text: &str) -> Vec<(Memory, usize)> {
    parse(text).sites.iter().map(|site| (site.memory, site.line)).collect()
}

#[test]
fn orderings_are_found_with_their_lines() {
    let text =
        "fn f(a: &A) {\n    a.load(Ordering::Acquire);\n    a.store(1, atomic::Ordering::Release);\n}\n";
    assert_eq!(memories(text), [(Memory::Acquire, 2), (Memory::Release, 3)]);
}

#[test]
fn strings_comments_docs_and_imports_hold_no_orderings() {
    let text = concat!(
        "use std::sync::atomic::Ordering::{self, Acquire};\n",
        "/// `a.load(Ordering::Acquire)`\n",
        "fn f() {\n",
        "    // Ordering::Release\n",
        "    let s = \"Ordering::SeqCst\";\n",
        "    let less = std::cmp::Ordering::Less;\n",
        "}\n",
    );
    assert_eq!(memories(text), []);
}

#[test]
fn a_bare_name_counts_only_when_imported() {
    let body = "fn f(a: &A) { a.load(Acquire); }\n";
    assert_eq!(memories(body), []);
    assert_eq!(
        memories(&format!("use core::sync::atomic::Ordering::Acquire;\n{body}")),
        [(Memory::Acquire, 2)]
    );
    assert_eq!(memories(&format!("use sync::prim::Ordering::*;\n{body}")), [(Memory::Acquire, 2)]);
    assert!(parse(&format!("use sync::prim::Ordering::*;\n{body}")).sites[0].bare);
}

#[test]
fn an_alias_of_the_type_is_seen_through() {
    let text = "use a::Ordering as O;\nfn f(a: &A) { a.load(O::SeqCst); a.load(P::SeqCst); }\n";
    assert_eq!(memories(text), [(Memory::SeqCst, 2)]);
}

#[test]
fn orderings_inside_macros_count() {
    let text = "macro_rules! m { ($a:expr) => { $a.load(Ordering::Acquire) } }\n";
    assert_eq!(memories(text), [(Memory::Acquire, 1)]);
}

#[test]
fn code_that_only_tests_compile_is_left_out() {
    let text = concat!(
        "#[cfg(test)]\nmod tests {\n    fn f(a: &A) { a.load(Ordering::Acquire); }\n}\n",
        "#[cfg(all(test, feature = \"x\"))]\nfn g(a: &A) { a.load(Ordering::Acquire); }\n",
        "#[cfg(not(test))]\nfn h(a: &A) { a.load(Ordering::Release); }\n",
        "#[cfg(any(test, loom))]\nfn i(a: &A) { a.load(Ordering::AcqRel); }\n",
    );
    assert_eq!(memories(text), [(Memory::Release, 8), (Memory::AcqRel, 10)]);
}

#[test]
fn a_test_module_in_its_own_file_is_named() {
    let source = parse("#[cfg(test)]\nmod tests;\nmod other;\n");
    assert!(source.owns_test_file("sync/src/sample/tests.rs"));
    assert!(source.owns_test_file("sync/src/sample/tests/deep.rs"));
    assert!(!source.owns_test_file("sync/src/sample/other.rs"));
    assert!(!source.owns_test_file("sync/src/sample/tests_of_speed.rs"));
}

#[test]
fn functions_and_statements_are_known() {
    let text = concat!(
        "impl X {\n",
        "    fn outer(&self) {\n",
        "        let x = 1;\n",
        "        self.a\n",
        "            .store(\n",
        "                Ordering::Release,\n",
        "            );\n",
        "        match y {\n",
        "            1 => one(),\n",
        "            2 => self.a.load(Ordering::Acquire),\n",
        "        }\n",
        "    }\n",
        "}\n",
    );
    let source = parse(text);
    let places: Vec<_> = source
        .sites
        .iter()
        .map(|s| (s.function.as_str(), s.function_line, s.statement_line, s.line))
        .collect();
    assert_eq!(places, [("outer", 2, 4, 6), ("outer", 2, 10, 10)]);
}

#[test]
fn the_relaxed_failure_of_an_exchange_is_told_from_a_plain_relaxed() {
    let text = concat!(
        "fn f(a: &A) {\n",
        "    a.compare_exchange(b.load(Ordering::Relaxed), 1, Ordering::Acquire, Ordering::Relaxed);\n",
        "    a.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);\n",
        "}\n",
    );
    let failures: Vec<_> = parse(text).sites.iter().map(|site| site.relaxed_failure).collect();
    assert_eq!(failures, [false, false, true, false, false]);
}

#[test]
fn a_fence_is_the_whole_call() {
    let text = "fn fence(o: Ordering) {}\nfn f() { crate::prim::fence(Ordering::Release); fence(order); }\n";
    let source = parse(text);
    let range = source.sites[0].fence.clone().expect("it is a fence");
    assert_eq!(&source.text[range], "crate::prim::fence(Ordering::Release)");
    assert_eq!(source.opaque_fences, [2]);
}

#[test]
fn comments_are_joined_into_blocks() {
    let text = concat!(
        "// one\n// two\nfn f() {\n    g(); // end of g\n\n    /* a\n       b */\n    h(\"// no\");\n}\n",
        "#[cfg(test)]\nmod t {\n    // not this\n}\n",
    );
    let source = parse(text);
    let blocks: Vec<_> =
        source.comments.blocks().into_iter().map(|block| (block.first, block.last, block.text)).collect();
    let expected = [(1, 2, "one\ntwo"), (4, 4, "end of g"), (6, 7, "a\nb */")];
    assert_eq!(blocks, expected.map(|(first, last, text)| (first, last, text.to_owned())));
    assert_eq!(source.comments.above(3).map(|block| block.first), Some(1));
    assert_eq!(source.comments.above(4), None);
}

#[test]
fn text_beyond_ascii_shifts_nothing() {
    let source = parse("// größer, 4 µs\nfn f(a: &A) { let _ = \"é\"; a.load(Ordering::Acquire); }\n");
    assert_eq!(&source.text[source.sites[0].name.clone()], "Acquire");
}

#[test]
fn test_functions_come_with_their_modules() {
    let text = concat!(
        "#[test]\nfn plain() {}\nfn helper() {}\n",
        "mod chain {\n    #[test]\n    #[should_panic]\n    fn inner() { fn nested() {} }\n}\n",
    );
    assert_eq!(test_functions("x.rs", text).expect("the sample is Rust"), ["plain", "chain::inner"]);
}

#[test]
fn text_that_is_no_rust_is_an_error_with_its_place() {
    let failure =
        Source::parse("sync/src/x.rs", "fn f() {\n  \"open\n".to_owned()).expect_err("it is broken");
    assert!(failure.to_string().starts_with("sync/src/x.rs:"), "{failure}");
}
