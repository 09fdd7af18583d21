//! Small pieces of code: which mutants they have, and how those are put in.

#[cfg(target_os = "linux")]
mod whole;

use super::conditions::Conditions;
use super::rewrite::{Refused, rewrite};
use super::{find, shard};

const PATH: &str = "sync/src/lib.rs";

fn found(text: &str) -> Vec<find::Site> {
    find::sites(PATH, text, &Conditions { features: Vec::new() }, 0).expect("it is Rust").sites
}

fn names(text: &str) -> Vec<String> {
    let sites = found(text);
    let names = sites.iter().flat_map(|site| &site.changes).map(|change| change.name.clone());
    names.map(|name| name.trim_start_matches(PATH).to_owned()).collect()
}

#[test]
fn each_mutant_has_a_place_a_change_and_a_function() {
    let text = "struct A;\nimpl<T> B<T> {\n    fn f(&self, n: u32) -> bool {\n        self.g();\n        !(n < 3)\n    }\n}\n";
    let expected = [
        ":3:8 body -> true in B::f",
        ":3:8 body -> false in B::f",
        ":4:9 .g() removed in B::f",
        ":5:9 ! deleted in B::f",
        ":5:13 < -> <= in B::f",
        ":5:13 < -> > in B::f",
    ];
    assert_eq!(names(text), expected);
}

#[test]
fn arms_are_deleted_where_the_rest_catches_them_and_guards_are_decided() {
    let text = "fn f(n: u8) -> u8 {\n    match n {\n        0 => 5,\n        n if n > 7 => 6,\n        _ => 7,\n    }\n}\n";
    let expected = [
        ":1:4 body -> 0 in f",
        ":1:4 body -> 1 in f",
        ":3:9 arm 0 deleted in f",
        ":4:14 guard -> true in f",
        ":4:14 guard -> false in f",
        ":4:16 > -> >= in f",
        ":4:16 > -> < in f",
    ];
    assert_eq!(names(text), expected);
}

#[test]
fn tests_constants_patterns_macros_and_shown_values_have_none() {
    let none = [
        "#[cfg(test)] mod tests { fn f() { g(); h.g(); } }",
        "#[test] fn f() { h.g(); }",
        "const A: u32 = 1 + 2; static B: u32 = 3 << 4; enum E { C = 1 + 1 }",
        "impl fmt::Debug for A { fn fmt(&self) -> fmt::Result { self.x.fmt() } }",
        "fn f() -> ! { debug_assert!(a == b); loop {} }",
        "fn f(a: [u8; 1 + 2]) -> &u8 { match a { -1 => &a[0] } }",
        "#[cfg(loom)] fn f() -> bool { g() }",
        "fn f() -> &A { if let Some(_) = h() && k() { l() } }",
        "impl Default for A { fn default() -> Self { A(1) } }",
    ];
    for text in none {
        assert_eq!(names(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(names("fn f() {} fn g() -> bool { true }"), [":1:14 body -> false in g"]);
}

#[test]
fn all_mutants_stand_on_their_line_each_behind_its_switch() {
    let text = "const fn f(a: u32) -> u32 {\n    a + 1\n}\n";
    let sites = found(text);
    let rewritten = rewrite(text, &sites, &Refused::default());
    let expected = concat!(
        "/*const*/ fn f(a: u32) -> u32 { if crate::mutant::on(1) { return 0; } if crate::mutant::on(2) { return 1; }\n",
        "    (if crate::mutant::on(3) { (a) - (1) } else if crate::mutant::on(4) { (a) * (1) } else { a + 1 })\n}\n",
    );
    assert_eq!(rewritten.text, expected);
    let blamed = |line: usize, before: &str| {
        let text = rewritten.text.lines().nth(line - 1).expect("the line is there");
        Vec::from_iter(rewritten.blamed(line, text.find(before).expect("it is there") + 1))
    };
    assert_eq!(blamed(1, "0; }"), [1]);
    assert_eq!(blamed(2, "(a) - (1)"), [3]);
    assert_eq!(blamed(2, "a + 1"), [3, 4]);
    assert_eq!(blamed(1, "u32"), [1, 2], "outside of all mutants, those of the line");

    let mut refused = Refused::default();
    refused.numbers.insert(3);
    let without = rewrite(text, &sites, &refused).text;
    assert!(!without.contains("on(3)") && without.contains("(if crate::mutant::on(4)"), "{without}");
    refused.constant.insert("sync/src/lib.rs f".to_owned());
    assert_eq!(rewrite(text, &sites, &refused).text, text);
}

#[test]
fn a_shard_is_one_of_so_many() {
    assert_eq!(shard(None).unwrap(), (1, 1));
    assert_eq!(shard(Some("2/3")).unwrap(), (2, 3));
    for wrong in ["0/3", "4/3", "2", "a/b"] {
        assert!(shard(Some(wrong)).is_err(), "{wrong}");
    }
}
