//! From the text of a program to one that is metered: what repeats takes steps, what builds is weighed.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::load::{Lexer, Parser};
use jaq_core::ops::Math;
use jaq_core::path::{Part, Path};

/// Filters that reach outside of the item.
const FORBIDDEN: &[&str] = &[
    "input",
    "inputs",
    "env",
    "now",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
    "input_filename",
    "input_line_number",
    "halt",
    "halt_error",
    "localtime",
    "strflocaltime",
    "get_search_list",
    "modulemeta",
];
const FORBIDDEN_VARIABLES: &[&str] = &["$ENV", "$__loc__", "$__prog_args"];
/// Definitions of the library that call themselves as their last act. A step behind that act would keep each round on
/// the stack; the steps in their arguments stop them.
const ENDLESS: &[&str] = &["repeat", "recurse", "while", "until", "flatten"];
/// Natives that can take much longer than their input is long.
const HEAVY: &[&str] = &["matches", "split_matches", "split_", "indices", "contains"];
/// Deepest program.
const DEPTH_MAX: usize = 100;

type Text = &'static str;

/// The definitions of the language, without those that reach outside or repeat unmetered.
pub(super) fn library<'s>() -> impl Iterator<Item = Def<&'s str>> {
    let all = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let kept = all
        .filter(|def| !FORBIDDEN.contains(&def.name) && (def.name != "combinations" || def.args.is_empty()));
    kept.map(|def: Def<Text>| -> Def<&'s str> {
        if ENDLESS.contains(&def.name) {
            return def;
        }
        let mut rewrite = Rewrite { open: Vec::new(), fault: None, depth: 0, is_library: true };
        let body = rewrite.term(def.body);
        Def { body, ..def }
    })
}

/// The program as a definition of that name.
pub(super) fn parsed<'s>(name: &'s str, text: &'s str) -> Result<Def<&'s str>, String> {
    let first = text.split_whitespace().next().unwrap_or_default();
    if ["import", "include", "module"].contains(&first) {
        return Err(format!("{first} may not stand in a projection"));
    }
    if nesting(text) > DEPTH_MAX {
        return Err("the program is nested too deep".to_owned());
    }
    let tokens = Lexer::new(text).lex().map_err(|errors| {
        let near = errors.first().map(|(_, rest)| shown(rest)).unwrap_or_default();
        format!("not a jq program, near `{near}`")
    })?;
    let term = Parser::new(&tokens).parse(Parser::term).map_err(|errors| {
        let found = errors.first();
        let near = found.and_then(|(_, token)| token.as_ref()).map(|token| shown(token.0));
        let wanted = found.map(|(wanted, _)| wanted.as_str()).unwrap_or_default();
        format!("not a jq program: {wanted} expected near `{}`", near.unwrap_or_default())
    })?;
    let mut rewrite = Rewrite { open: Vec::new(), fault: None, depth: 0, is_library: false };
    let body = rewrite.term(term);
    match rewrite.fault {
        Some(fault) => Err(fault),
        None => Ok(Def { name, args: Vec::new(), body }),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(20).collect()
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

struct Rewrite<'s> {
    /// Definitions that may not be called here, as that would be a circle.
    open: Vec<(&'s str, usize)>,
    fault: Option<String>,
    depth: usize,
    /// Whether the text is the language's own, which may name what programs may not.
    is_library: bool,
}

fn call(name: &str) -> Term<&str> {
    Term::Call(name, Vec::new())
}

fn pipe<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

/// What it gives takes a step each.
fn stepped(term: Term<&str>) -> Term<&str> {
    pipe(term, call("loom_step"))
}

/// What it gives is weighed.
fn weighed(term: Term<&str>) -> Term<&str> {
    pipe(term, call("loom_weigh"))
}

/// Each evaluation takes a step, and what it gives is weighed.
fn repeated(term: Term<&str>) -> Term<&str> {
    pipe(call("loom_step"), weighed(term))
}

impl<'s> Rewrite<'s> {
    fn refuse(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    fn term(&mut self, term: Term<&'s str>) -> Term<&'s str> {
        self.depth += 1;
        let done = match self.depth > DEPTH_MAX {
            true => {
                self.refuse("the program is nested too deep".to_owned());
                Term::Id
            }
            false => self.below(term),
        };
        self.depth -= 1;
        done
    }

    fn boxed(&mut self, term: Term<&'s str>) -> Box<Term<&'s str>> {
        Box::new(self.term(term))
    }

    fn below(&mut self, term: Term<&'s str>) -> Term<&'s str> {
        match term {
            Term::Id | Term::Num(_) | Term::Break(_) => term,
            Term::Recurse => stepped(term),
            Term::Var(name) => {
                if FORBIDDEN_VARIABLES.contains(&name) {
                    self.refuse(format!("{name} may not stand in a projection"));
                }
                term
            }
            Term::Str(format, parts) => {
                let parts = parts.into_iter().map(|part| match part {
                    StrPart::Term(term) => StrPart::Term(self.term(term)),
                    other => other,
                });
                weighed(Term::Str(format, parts.collect()))
            }
            Term::Arr(inner) => weighed(Term::Arr(inner.map(|inner| self.boxed(*inner)))),
            Term::Obj(members) => {
                let members = members.into_iter();
                let members =
                    members.map(|(key, value)| (self.key(key), value.map(|value| self.term(value))));
                weighed(Term::Obj(members.collect()))
            }
            Term::Neg(inner) => Term::Neg(self.boxed(*inner)),
            Term::BinOp(left, op, right) => self.operation(*left, op, *right),
            Term::Label(name, inner) => Term::Label(name, self.boxed(*inner)),
            Term::Fold(kind, over, pattern, steps) => {
                let over = self.boxed(*over);
                let pattern = self.pattern(pattern);
                let steps = steps.into_iter().map(|step| repeated(self.term(step))).collect();
                stepped(Term::Fold(kind, over, pattern, steps))
            }
            Term::TryCatch(inner, caught) => {
                Term::TryCatch(self.boxed(*inner), caught.map(|caught| self.boxed(*caught)))
            }
            Term::IfThenElse(branches, other) => {
                let branches = branches.into_iter().map(|(test, then)| (self.term(test), self.term(then)));
                let branches = branches.collect();
                Term::IfThenElse(branches, other.map(|other| self.boxed(*other)))
            }
            Term::Def(defs, rest) => {
                let names: Vec<_> = defs.iter().map(|def| (def.name, def.args.len())).collect();
                let defs =
                    defs.into_iter().enumerate().map(|(at, def)| self.definition(def, names.get(at..)));
                let defs = defs.collect();
                Term::Def(defs, self.boxed(*rest))
            }
            Term::Call(name, arguments) => self.call(name, arguments),
            Term::Path(inner, path) => {
                let inner = self.boxed(*inner);
                let steps = path.0.into_iter().map(|(part, opt)| (self.part(part), opt));
                stepped(Term::Path(inner, Path(steps.collect())))
            }
        }
    }

    /// A bare key stays what it is: `{a}` means `{a: .a}`.
    fn key(&mut self, key: Term<&'s str>) -> Term<&'s str> {
        match key {
            Term::Str(format, parts) if parts.iter().all(|part| !matches!(part, StrPart::Term(_))) => {
                Term::Str(format, parts)
            }
            Term::Var(_) => {
                self.term(key.clone());
                key
            }
            other => self.term(other),
        }
    }

    fn call(&mut self, name: &'s str, arguments: Vec<Term<&'s str>>) -> Term<&'s str> {
        if !self.is_library && (FORBIDDEN.contains(&name) || name.starts_with("loom_")) {
            self.refuse(format!("{name} may not stand in a projection"));
        }
        if !self.is_library && self.open.contains(&(name, arguments.len())) {
            self.refuse(format!("{name} calls itself; use recurse, reduce, until or limit instead"));
        }
        let arguments = arguments.into_iter().map(|argument| repeated(self.term(argument))).collect();
        match HEAVY.contains(&name) {
            true => pipe(call("loom_short"), weighed(Term::Call(name, arguments))),
            false => weighed(Term::Call(name, arguments)),
        }
    }

    fn definition(&mut self, def: Def<&'s str>, closed: Option<&[(&'s str, usize)]>) -> Def<&'s str> {
        let length = self.open.len();
        self.open.extend_from_slice(closed.unwrap_or_default());
        let body = self.term(def.body);
        self.open.truncate(length);
        Def { body, ..def }
    }

    fn operation(
        &mut self,
        left: Term<&'s str>,
        op: BinaryOp<&'s str>,
        right: Term<&'s str>,
    ) -> Term<&'s str> {
        let (left, right) = (self.boxed(left), self.boxed(right));
        match op {
            BinaryOp::Pipe(Some(pattern)) => {
                let pattern = self.pattern(pattern);
                Term::BinOp(left, BinaryOp::Pipe(Some(pattern)), right)
            }
            BinaryOp::Comma => stepped(Term::BinOp(left, op, right)),
            BinaryOp::Math(Math::Mul) => weighed(Term::Call("loom_multiply", vec![*left, *right])),
            BinaryOp::Math(Math::Sub) => weighed(Term::Call("loom_subtract", vec![*left, *right])),
            BinaryOp::Math(_) => weighed(Term::BinOp(left, op, right)),
            BinaryOp::UpdateMath(math @ (Math::Mul | Math::Sub)) => {
                let name = if matches!(math, Math::Mul) { "loom_multiply" } else { "loom_subtract" };
                let product = Term::Call(name, vec![Term::Id, Term::Var("$loom_factor")]);
                let update = Term::BinOp(left, BinaryOp::Update, Box::new(weighed(product)));
                let bound = BinaryOp::Pipe(Some(Pattern::Var("$loom_factor")));
                weighed(Term::BinOp(right, bound, Box::new(update)))
            }
            BinaryOp::Update => weighed(Term::BinOp(left, op, Box::new(repeated(*right)))),
            BinaryOp::Assign | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => {
                weighed(Term::BinOp(left, op, right))
            }
            _ => Term::BinOp(left, op, right),
        }
    }

    fn pattern(&mut self, pattern: Pattern<&'s str>) -> Pattern<&'s str> {
        match pattern {
            Pattern::Var(name) => Pattern::Var(name),
            Pattern::Arr(inner) => Pattern::Arr(inner.into_iter().map(|one| self.pattern(one)).collect()),
            Pattern::Obj(members) => {
                let members = members.into_iter().map(|(key, one)| (self.key(key), self.pattern(one)));
                Pattern::Obj(members.collect())
            }
        }
    }

    fn part(&mut self, part: Part<Term<&'s str>>) -> Part<Term<&'s str>> {
        match part {
            Part::Index(index) => Part::Index(self.term(index)),
            Part::Range(from, to) => {
                Part::Range(from.map(|one| self.term(one)), to.map(|one| self.term(one)))
            }
        }
    }
}
