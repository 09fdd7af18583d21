//! The places of a file where something can be changed, and what to.
//!
//! Left out: tests, what the run does not compile, constants and statics, patterns, types, the inside of macros, and
//! what only shows a value (`Debug`, `Display`).
//!
//! Next: `rewrite.rs` puts the changes into the text.

use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ExprMatch, Pat, Signature, Stmt, UnOp};

use super::conditions::Conditions;
use super::values;
use crate::shell::Failure;

/// How the changes of a site are put into the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Instead of an expression, another one.
    Value,
    /// Instead of an expression whose value is dropped, nothing.
    Statement,
    /// The same of a call to which variables are given whole: without it they live on.
    Giving,
    /// Before all statements of a function, a return.
    Body,
    /// A guard that shuts a match arm.
    Arm,
    /// The word `const` before a function, which goes, since a constant can't depend on the environment.
    Const,
}

/// A place in the text.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) range: Range<usize>,
    /// Where it begins, counted from 1.
    pub(super) line: usize,
    pub(super) form: Form,
    /// The function around it, with its file: `sync/src/slots.rs Slots::add`.
    pub(super) function: String,
    pub(super) changes: Vec<Change>,
}

/// One mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Counted from 1, over all files of the crate.
    pub(super) number: u32,
    /// `sync/src/slots.rs:120:9 == -> != in Slots::add`.
    pub(super) name: String,
    pub(super) text: String,
}

/// What one file holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sites: Vec<Site>,
    /// Modules that lie in files of their own.
    pub(super) modules: Vec<String>,
}

/// Reads `text`, the content of `path`; the first mutant has the number after `last`.
pub(super) fn sites(path: &str, text: &str, conditions: &Conditions, last: u32) -> Result<Found, Failure> {
    let file = syn::parse_file(text).map_err(|error| Failure::new(format!("{path}: {error}")))?;
    let mut finder = Finder { path, conditions, last, scopes: Vec::new(), found: Found::default() };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'a> {
    path: &'a str,
    conditions: &'a Conditions,
    last: u32,
    /// Types and functions around the current place.
    scopes: Vec<String>,
    found: Found,
}

impl Finder<'_> {
    fn within(&mut self, scope: String, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        visit(self);
        self.scopes.pop();
    }

    /// Adds a site at `at` with a change for each label and text.
    fn add(&mut self, form: Form, at: &dyn Spanned, range: Range<usize>, changes: Vec<(String, String)>) {
        let scope = self.scopes.join("::");
        let start = at.span().start();
        let function = format!("{} {scope}", self.path);
        let mut site = Site { range, line: start.line, form, function, changes: Vec::new() };
        for (label, text) in changes {
            self.last += 1;
            let name = format!("{}:{}:{} {label} in {scope}", self.path, start.line, start.column + 1);
            site.changes.push(Change { number: self.last, name, text });
        }
        if form == Form::Const || !site.changes.is_empty() {
            self.found.sites.push(site);
        }
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if !self.conditions.hold(attributes) {
            return;
        }
        self.within(signature.ident.to_string(), |finder| {
            if let Some(word) = &signature.constness {
                finder.add(Form::Const, word, word.span().byte_range(), Vec::new());
            }
            let start = block.brace_token.span.open().byte_range().end;
            finder.add(Form::Body, &signature.ident, start..start, bodies(signature, block));
            finder.visit_block(block);
        });
    }

    fn arms(&mut self, whole: &ExprMatch) {
        let has_rest = whole.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &whole.arms {
            if !self.conditions.hold(&arm.attrs) {
                continue;
            }
            if let Some((_, guard)) = &arm.guard {
                if !has_let(guard) {
                    let change = |word: &str| (format!("guard -> {word}"), word.to_owned());
                    let changes = vec![change("true"), change("false")];
                    self.add(Form::Value, guard, guard.span().byte_range(), changes);
                }
            } else if has_rest && !matches!(arm.pat, Pat::Wild(_)) {
                let end = arm.pat.span().byte_range().end;
                let label = format!("arm {} deleted", short(&arm.pat));
                self.add(Form::Arm, &arm.pat, end..end, vec![(label, String::new())]);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        const SHOWN: [&str; 2] = ["Debug", "Display"];
        let of = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let is_shown = of.is_some_and(|of| SHOWN.iter().any(|name| of.ident == name));
        if !is_shown && self.conditions.hold(&item.attrs) {
            let name = item.self_ty.to_token_stream().to_string();
            let name = name.split(['<', '&']).find(|part| !part.trim().is_empty()).unwrap_or_default();
            self.within(name.trim().to_owned(), |finder| visit::visit_item_impl(finder, item));
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if self.conditions.hold(&item.attrs) {
            self.within(item.ident.to_string(), |finder| visit::visit_item_trait(finder, item));
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !self.conditions.hold(&item.attrs) {
            return;
        }
        match item.content {
            Some(_) => visit::visit_item_mod(self, item),
            None => self.found.modules.push(item.ident.to_string()),
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(call), Some(_)) = statement {
            if !self.conditions.hold(&call.attrs) {
                return;
            }
            if call.attrs.is_empty() {
                let label = format!(".{}() removed", call.method);
                let gives = call.args.iter().any(|argument| matches!(argument, Expr::Path(_)));
                let form = if gives { Form::Giving } else { Form::Statement };
                self.add(form, call, call.span().byte_range(), vec![(label, String::new())]);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if self.conditions.hold(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if self.conditions.hold(&block.attrs) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if self.conditions.hold(&field.attrs) {
            self.visit_expr(&field.expr);
        }
    }

    fn visit_expr_binary(&mut self, whole: &'ast syn::ExprBinary) {
        if !has_let(&whole.left) && !has_let(&whole.right) {
            let operator = whole.op.to_token_stream().to_string();
            let (left, right) = (whole.left.to_token_stream(), whole.right.to_token_stream());
            let others = values::of_operator(&whole.op).iter();
            let change =
                |other: &&str| (format!("{operator} -> {other}"), format!("({left}) {other} ({right})"));
            self.add(Form::Value, &whole.op, whole.span().byte_range(), others.map(change).collect());
        }
        visit::visit_expr_binary(self, whole);
    }

    fn visit_expr_unary(&mut self, whole: &'ast syn::ExprUnary) {
        if matches!(whole.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let label = format!("{} deleted", whole.op.to_token_stream());
            let text = format!("({})", whole.expr.to_token_stream());
            self.add(Form::Value, whole, whole.span().byte_range(), vec![(label, text)]);
        }
        visit::visit_expr_unary(self, whole);
    }

    fn visit_expr_match(&mut self, whole: &'ast ExprMatch) {
        self.arms(whole);
        visit::visit_expr_match(self, whole);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.conditions.hold(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_expr_repeat(&mut self, whole: &'ast syn::ExprRepeat) {
        self.visit_expr(&whole.expr);
    }

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// What a function can return at once, but for what it returns anyway.
fn bodies(signature: &Signature, block: &Block) -> Vec<(String, String)> {
    let is_maker = signature.ident == "default" || (signature.ident == "new" && signature.inputs.is_empty());
    let body = match &block.stmts[..] {
        [] => Some("()".to_owned()),
        [Stmt::Expr(value, None)] => Some(value.to_token_stream().to_string()),
        _ => None,
    };
    let is_other = |value: &String| {
        let same = body.as_ref().is_some_and(|body| body.replace(' ', "") == value.replace(' ', ""));
        // A constructor would call itself through `Default`.
        let is_itself = is_maker && value.contains("Default::default()");
        !same && !is_itself
    };
    let values = values::of_return(&signature.output).into_iter().filter(is_other);
    values.map(|value| (format!("body -> {value}"), value)).collect()
}

/// Whether a chain of conditions binds something.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(whole) => has_let(&whole.left) || has_let(&whole.right),
        _ => false,
    }
}

/// A pattern in at most 40 characters.
fn short(pattern: &Pat) -> String {
    const MAX_CHARS: usize = 40;
    pattern.to_token_stream().to_string().chars().take(MAX_CHARS).collect()
}
