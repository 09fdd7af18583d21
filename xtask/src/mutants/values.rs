//! What takes the place of code: a plain value of a type, another operator.

use quote::ToTokens;
use syn::{BinOp, GenericArgument, PathArguments, ReturnType, Type};

/// The plain values that a function can return instead of what it computes; the compiler refuses those that don't fit.
pub(super) fn of_return(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".to_owned()],
        ReturnType::Type(_, of) => of_type(of),
    }
}

fn of_type(of: &Type) -> Vec<String> {
    match of {
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Group(inner) => of_type(&inner.elem),
        Type::Tuple(tuple) => of_tuple(&tuple.elems.iter().map(of_type).collect::<Vec<_>>()),
        Type::Path(path) => path.path.segments.last().map_or_else(Vec::new, of_name),
        Type::Reference(to) if to.elem.to_token_stream().to_string() == "str" => {
            words(&["\"\"", "\"xyzzy\""])
        }
        Type::Array(_) => words(&["Default::default()"]),
        _ => Vec::new(),
    }
}

fn of_name(name: &syn::PathSegment) -> Vec<String> {
    match name.ident.to_string().as_str() {
        "bool" => words(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => words(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => words(&["0", "1", "-1"]),
        "f32" | "f64" => words(&["0.0", "1.0"]),
        "Option" => {
            let some = of_argument(name).into_iter().map(|value| format!("Some({value})"));
            std::iter::once("None".to_owned()).chain(some).collect()
        }
        "Result" => of_argument(name).into_iter().map(|value| format!("Ok({value})")).collect(),
        _ => words(&["Default::default()"]),
    }
}

/// The values of the first type in `name<..>`.
fn of_argument(name: &syn::PathSegment) -> Vec<String> {
    let PathArguments::AngleBracketed(list) = &name.arguments else {
        return words(&["Default::default()"]);
    };
    let of = list.args.iter().find_map(|one| match one {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    of.map_or_else(Vec::new, of_type)
}

/// As many tuples as there are values for each field.
fn of_tuple(fields: &[Vec<String>]) -> Vec<String> {
    let count = fields.iter().map(Vec::len).min().unwrap_or(1);
    let tuple = |at: usize| {
        let values: Vec<_> = fields.iter().map(|field| field[at].as_str()).collect();
        let comma = if values.len() == 1 { "," } else { "" };
        format!("({}{comma})", values.join(", "))
    };
    (0..count).map(tuple).collect()
}

/// The operators that take the place of one.
pub(super) fn of_operator(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">"],
        BinOp::Gt(_) => &[">=", "<"],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+", "/"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["*", "%"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) => &["+=", "/="],
        BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["*=", "%="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        BinOp::BitAndAssign(_) => &["|=", "^="],
        BinOp::BitOrAssign(_) => &["&=", "^="],
        BinOp::BitXorAssign(_) => &["|=", "&="],
        _ => &[],
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: &str) -> Vec<String> {
        of_return(&syn::parse_str(of).expect("it is a return type"))
    }

    #[test]
    fn each_type_has_its_plain_values() {
        assert_eq!(values(""), ["()"]);
        assert_eq!(values("-> bool"), ["true", "false"]);
        assert_eq!(values("-> i64"), ["0", "1", "-1"]);
        assert_eq!(values("-> Option<(u32, bool)>"), ["None", "Some((0, true))", "Some((1, false))"]);
        assert_eq!(values("-> io::Result<()>"), ["Ok(())"]);
        assert_eq!(values("-> &'static str"), ["\"\"", "\"xyzzy\""]);
        assert_eq!(values("-> Stamp"), ["Default::default()"]);
        assert_eq!(values("-> (u8,)"), ["(0,)", "(1,)"]);
    }

    #[test]
    fn a_type_without_a_plain_value_has_none() {
        for of in ["-> &u32", "-> !", "-> impl Iterator<Item = u8>", "-> (u32, &u32)", "-> *const u8"] {
            assert_eq!(values(of), Vec::<String>::new(), "{of}");
        }
    }
}
