//! Reads a Python pattern into a tree.
//!
//! One pass, left to right. Flags are applied as they are met: Python only allows the global ones
//! at the start, so nothing read before them can change its meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::{Alphabet, Category, CategoryKind, Greed, Node, Parsed, PatternError, PythonFlags, Set, Traits, Width};

/// Groups inside groups beyond this are refused. Reading and writing recurse once a level, and the
/// engines have limits of their own not far above.
const MAX_DEPTH: usize = 100;

/// Unicode classes that a pattern may have, counting as [`Reader::weigh`] does. Each is hundreds
/// of ranges to the engines, which would build them all before finding the whole too large.
const MAX_WEIGHT: usize = 6_000;

pub(super) fn pattern(text: &str, flags: PythonFlags) -> Result<Parsed, PatternError> {
    check_flags(flags, None)?;
    let mut reader = Reader {
        text,
        at: 0,
        flags,
        depth: 0,
        before_first_item: true,
        groups: vec![None],
        names: BTreeMap::new(),
        look_behind: None,
        conditions: Vec::new(),
        referenced: BTreeSet::new(),
        traits: Traits::default(),
        weight: 0,
    };
    let whole = reader.choice()?;
    if reader.peek().is_some() {
        return Err(problem("unbalanced parenthesis", reader.at..reader.at + 1));
    }
    for (group, at) in reader.conditions {
        if group >= reader.groups.len() {
            return Err(invalid_reference(group, at));
        }
    }
    Ok(Parsed {
        node: whole.node,
        width: whole.width,
        traits: reader.traits,
        referenced: reader.referenced.into_iter().collect(),
    })
}

struct Reader<'p> {
    text: &'p str,
    at: usize,
    /// The flags in force here.
    flags: PythonFlags,
    depth: usize,
    /// Whether only comments and flags have been read, so that global flags may still come.
    before_first_item: bool,
    /// The width of each group by number, absent while it is open. Number 0 is the whole.
    groups: Vec<Option<Width>>,
    names: BTreeMap<&'p str, usize>,
    /// The number of groups there were when the outermost look-behind around us opened.
    look_behind: Option<usize>,
    /// Groups that conditions ask about, which may come later in the pattern.
    conditions: Vec<(usize, Range<usize>)>,
    referenced: BTreeSet<usize>,
    traits: Traits,
    weight: usize,
}

/// A node and how many characters it takes.
struct Part {
    node: Node,
    width: Width,
}

struct Quantifier {
    least: u32,
    most: Option<u32>,
    greed: Greed,
}

/// What a quantifier would apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// `^` and the like, which Python refuses to repeat.
    Position,
    Item,
    /// A repeat already, as the `a*` of `a**`.
    Repeat,
}

/// One item of a class.
enum Member {
    /// A code point. Python has lone surrogates, so this is wider than `char`.
    Point(u32),
    Category(Category),
}

impl<'p> Reader<'p> {
    fn choice(&mut self) -> Result<Part, PatternError> {
        let mut branches = self.branches()?;
        if branches.len() == 1 {
            return Ok(branches.remove(0));
        }
        self.traits.prefers_less = true;
        let width = branches.iter().map(|it| it.width).reduce(Width::or).unwrap_or(Width::ZERO);
        let node = Node::Choice(branches.into_iter().map(|it| it.node).collect());
        Ok(Part { node, width })
    }

    /// At least one sequence, and a further one after each `|`.
    fn branches(&mut self) -> Result<Vec<Part>, PatternError> {
        let mut branches = vec![self.sequence()?];
        while self.eat('|') {
            self.before_first_item = false;
            branches.push(self.sequence()?);
        }
        Ok(branches)
    }

    fn sequence(&mut self) -> Result<Part, PatternError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut last = Last::Nothing;
        loop {
            self.skip_blanks();
            let start = self.at;
            let Some(c) = self.peek() else { break };
            let part = match c {
                '|' | ')' => break,
                '*' | '+' | '?' | '{' => match self.quantifier()? {
                    Some(quantifier) => {
                        let at = start..self.at;
                        let repeated = match (parts.pop(), last) {
                            (Some(target), Last::Item) => repeat(target, quantifier),
                            (Some(_), Last::Repeat) => return Err(problem("multiple repeat", at)),
                            _ => return Err(problem("nothing to repeat", at)),
                        };
                        parts.push(repeated);
                        last = Last::Repeat;
                        continue;
                    }
                    None => {
                        self.at += 1;
                        Some(self.literal(u32::from('{')))
                    }
                },
                '(' => self.group()?,
                _ => Some(self.single(c)?),
            };
            if let Some(part) = part {
                self.before_first_item = false;
                last = if c != '(' && part.node.is_position() { Last::Position } else { Last::Item };
                parts.push(part);
            }
        }
        let width = parts.iter().fold(Width::ZERO, |sum, part| sum.then(part.width));
        let node = match parts.len() {
            0 => Node::Empty,
            1 => parts.remove(0).node,
            _ => Node::Sequence(parts.into_iter().map(|part| part.node).collect()),
        };
        Ok(Part { node, width })
    }

    /// Anything that is not a group and takes at most one character.
    fn single(&mut self, c: char) -> Result<Part, PatternError> {
        match c {
            '\\' => return self.escape(),
            '[' => return self.class(),
            _ => self.at += c.len_utf8(),
        }
        let multi_line = self.flags.contains(PythonFlags::MULTI_LINE);
        Ok(match c {
            '.' => {
                let newline = (!self.flags.contains(PythonFlags::DOT_ALL)).then_some('\n');
                let points = newline.map(|c| ClassUnicodeRange::new(c, c));
                let points = ClassUnicode::new(points);
                set_part(Set { negated: true, points, categories: Vec::new() })
            }
            '^' if multi_line => position(Node::LineStart),
            '^' => position(Node::TextStart),
            '$' if multi_line => position(Node::LineEnd),
            '$' => {
                self.traits.dollar = true;
                position(Node::Dollar)
            }
            _ => self.literal(u32::from(c)),
        })
    }

    /// Reads `*`, `+`, `?` or `{..}` and its `?` or `+`. A `{` that starts no quantifier is left
    /// for the caller, since Python takes it literally.
    fn quantifier(&mut self) -> Result<Option<Quantifier>, PatternError> {
        let start = self.at;
        let (least, most) = if self.eat('*') {
            (0, None)
        } else if self.eat('+') {
            (1, None)
        } else if self.eat('?') {
            (0, Some(1))
        } else {
            match self.counts()? {
                Some(counts) => counts,
                None => {
                    self.at = start;
                    return Ok(None);
                }
            }
        };
        let greed = if self.eat('?') {
            self.traits.prefers_less = true;
            Greed::Lazy
        } else if self.eat('+') {
            self.traits.backtracks = true;
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        Ok(Some(Quantifier { least, most, greed }))
    }

    /// The numbers of `{2}`, `{2,}`, `{,3}` and `{2,3}`.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        self.eat('{');
        if self.peek() == Some('}') {
            return Ok(None);
        }
        let start = self.at;
        let least = self.digits();
        let most = if self.eat(',') { self.digits() } else { least };
        let at = start..self.at;
        if !self.eat('}') {
            return Ok(None);
        }
        let number = |digits: &str| -> Result<Option<u32>, PatternError> {
            match digits.parse::<u32>() {
                Ok(u32::MAX) => Err(problem("the repetition number is too large", at.clone())),
                Ok(number) => Ok(Some(number)),
                Err(_) if digits.is_empty() => Ok(None),
                Err(_) => Err(problem("the repetition number is too large", at.clone())),
            }
        };
        let least = number(least)?.unwrap_or(0);
        let most = number(most)?;
        if most.is_some_and(|most| most < least) {
            return Err(problem("min repeat greater than max repeat", at));
        }
        Ok(Some((least, most)))
    }

    /// Reads from `(` to its `)`. Comments and global flags leave nothing in the tree.
    fn group(&mut self) -> Result<Option<Part>, PatternError> {
        let start = self.at;
        self.eat('(');
        if !self.eat('?') {
            let number = self.open_group();
            return self.captured(start, number).map(Some);
        }
        let Some(c) = self.peek() else {
            return Err(problem("unexpected end of pattern", start..self.at));
        };
        match c {
            ':' => {
                self.eat(':');
                self.inside(start).map(Some)
            }
            '>' => {
                self.eat('>');
                self.traits.backtracks = true;
                let inner = self.inside(start)?;
                let node = Node::Atomic(Box::new(inner.node));
                Ok(Some(Part { node, width: inner.width }))
            }
            '=' | '!' => {
                self.at += 1;
                self.traits.backtracks = true;
                let inner = Box::new(self.inside(start)?.node);
                Ok(Some(position(Node::Look { ahead: true, negated: c == '!', inner })))
            }
            '<' => self.look_behind(start).map(Some),
            'P' => self.named(start).map(Some),
            '(' => self.condition(start).map(Some),
            '#' => self.comment(start),
            '-' | 'a' | 'i' | 'L' | 'm' | 's' | 'u' | 'x' => self.flag_group(start),
            other => Err(self.unknown_extension(start, other)),
        }
    }

    /// The rest of a group: what is between here and its `)`, under the flags of now.
    fn inside(&mut self, start: usize) -> Result<Part, PatternError> {
        self.enclosed(start, Reader::choice)
    }

    fn enclosed<T>(
        &mut self,
        start: usize,
        body: impl FnOnce(&mut Self) -> Result<T, PatternError>,
    ) -> Result<T, PatternError> {
        if self.depth == MAX_DEPTH {
            let message = format!("groups are nested more than {MAX_DEPTH} deep");
            return Err(problem(message, start..start + 1));
        }
        self.before_first_item = false;
        self.depth += 1;
        let flags = self.flags;
        let inner = body(self)?;
        self.flags = flags;
        self.depth -= 1;
        if !self.eat(')') {
            return Err(problem("missing ), unterminated subpattern", start..start + 1));
        }
        Ok(inner)
    }

    fn captured(&mut self, start: usize, number: usize) -> Result<Part, PatternError> {
        let inner = self.inside(start)?;
        self.groups[number] = Some(inner.width);
        let node = Node::Group { number, inner: Box::new(inner.node) };
        Ok(Part { node, width: inner.width })
    }

    fn open_group(&mut self) -> usize {
        self.groups.push(None);
        self.groups.len() - 1
    }

    fn look_behind(&mut self, start: usize) -> Result<Part, PatternError> {
        self.eat('<');
        let negated = match self.peek() {
            Some('=') => false,
            Some('!') => true,
            Some(other) => return Err(self.unknown_extension(start, other)),
            None => return Err(problem("unexpected end of pattern", start..self.at)),
        };
        self.at += 1;
        self.traits.backtracks = true;
        let outer = self.look_behind;
        self.look_behind = outer.or(Some(self.groups.len()));
        let inner = self.inside(start)?;
        self.look_behind = outer;
        if inner.width.least != inner.width.most {
            let message = "look-behind requires a fixed-width pattern";
            return Err(problem(message, start..self.at));
        }
        let inner = Box::new(inner.node);
        Ok(position(Node::Look { ahead: false, negated, inner }))
    }

    /// `(?P<name>..)` and `(?P=name)`.
    fn named(&mut self, start: usize) -> Result<Part, PatternError> {
        self.eat('P');
        match self.peek() {
            Some('<') => {
                self.eat('<');
                let (name, at) = self.name('>')?;
                let number = self.open_group();
                if let Some(earlier) = self.names.insert(name, number) {
                    let message = format!("group name `{name}` is already that of group {earlier}");
                    return Err(problem(message, at));
                }
                self.captured(start, number)
            }
            Some('=') => {
                self.eat('=');
                let (name, at) = self.name(')')?;
                let group = self.group_named(name, at.clone())?;
                self.reference(group, at)
            }
            Some(other) => Err(self.unknown_extension(start, other)),
            None => Err(problem("unexpected end of pattern", start..self.at)),
        }
    }

    /// `(?(1)then|otherwise)` and `(?(name)then|otherwise)`.
    fn condition(&mut self, start: usize) -> Result<Part, PatternError> {
        self.eat('(');
        let name_start = self.at;
        let digits = self.digits();
        let (group, at) = if !digits.is_empty() && self.eat(')') {
            let at = name_start..self.at - 1;
            let group: usize = digits.parse().unwrap_or(usize::MAX);
            if group == 0 {
                return Err(problem("bad group number", at));
            }
            self.conditions.push((group, at.clone()));
            (group, at)
        } else {
            self.at = name_start;
            let (name, at) = self.name(')')?;
            (self.group_named(name, at.clone())?, at)
        };
        self.check_look_behind(group, at)?;
        self.referenced.insert(group);
        self.traits.backtracks = true;
        self.traits.prefers_less = true;
        let mut branches = self.enclosed(start, Reader::branches)?.into_iter();
        let nothing = || Part { node: Node::Empty, width: Width::ZERO };
        let then = branches.next().unwrap_or_else(nothing);
        let otherwise = branches.next().unwrap_or_else(nothing);
        if branches.next().is_some() {
            return Err(problem("conditional backref with more than two branches", start..self.at));
        }
        let width = then.width.or(otherwise.width);
        let (then, otherwise) = (Box::new(then.node), Box::new(otherwise.node));
        Ok(Part { node: Node::Condition { group, then, otherwise }, width })
    }

    fn comment(&mut self, start: usize) -> Result<Option<Part>, PatternError> {
        match self.text[self.at..].find(')') {
            Some(length) => {
                self.at += length + 1;
                Ok(None)
            }
            None => Err(problem("missing ), unterminated comment", start..self.text.len())),
        }
    }

    /// `(?im)`, which holds for the whole pattern, and `(?i-m:..)`, which holds inside.
    fn flag_group(&mut self, start: usize) -> Result<Option<Part>, PatternError> {
        let on = self.flag_letters();
        check_flags(on, Some(start..self.at))?;
        if self.eat(')') {
            if !self.before_first_item {
                let message = "global flags not at the start of the expression";
                return Err(problem(message, start..self.at));
            }
            self.flags = self.flags | on;
            check_flags(self.flags, Some(start..self.at))?;
            return Ok(None);
        }
        let off = if self.eat('-') { self.flag_letters() } else { PythonFlags::NONE };
        let at = start..self.at;
        if !self.eat(':') {
            return Err(match self.peek() {
                Some(c) if c.is_alphabetic() => problem("unknown flag", self.here()),
                _ => problem("missing `:` or `)` after flags", at),
            });
        }
        if self.text[at.clone()].ends_with('-') {
            return Err(problem("missing flag", at));
        }
        let types = PythonFlags::ASCII | PythonFlags::UNICODE | PythonFlags::LOCALE;
        if off != off.without(types) {
            return Err(problem("cannot turn off flags `a`, `u` and `L`", at));
        }
        if on != on.without(off) {
            return Err(problem("flag turned on and off", at));
        }
        let outer = self.flags;
        let inherited = if on == on.without(types) { outer } else { outer.without(types) };
        self.flags = (inherited | on).without(off);
        let inner = self.inside(start);
        self.flags = outer;
        inner.map(Some)
    }

    fn flag_letters(&mut self) -> PythonFlags {
        let mut flags = PythonFlags::NONE;
        while let Some(c) = self.peek() {
            flags = flags
                | match c {
                    'i' => PythonFlags::IGNORE_CASE,
                    'm' => PythonFlags::MULTI_LINE,
                    's' => PythonFlags::DOT_ALL,
                    'x' => PythonFlags::VERBOSE,
                    'a' => PythonFlags::ASCII,
                    'u' => PythonFlags::UNICODE,
                    'L' => PythonFlags::LOCALE,
                    _ => break,
                };
            self.at += 1;
        }
        flags
    }

    /// Reads up to `end` a name that Python takes for a group.
    fn name(&mut self, end: char) -> Result<(&'p str, Range<usize>), PatternError> {
        let rest = &self.text[self.at..];
        let Some(length) = rest.find(end) else {
            let message = format!("missing {end}, unterminated name");
            return Err(problem(message, self.at..self.text.len()));
        };
        let name = &rest[..length];
        let at = self.at..self.at + length;
        self.at += length + 1;
        if name.is_empty() {
            return Err(problem("missing group name", at));
        }
        let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if starts_well && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            Ok((name, at))
        } else {
            Err(problem(format!("bad character in group name `{name}`"), at))
        }
    }

    fn group_named(&self, name: &str, at: Range<usize>) -> Result<usize, PatternError> {
        let group = self.names.get(name).copied();
        group.ok_or_else(|| problem(format!("unknown group name `{name}`"), at))
    }

    fn reference(&mut self, group: usize, at: Range<usize>) -> Result<Part, PatternError> {
        let Some(width) = self.groups.get(group) else {
            return Err(invalid_reference(group, at));
        };
        let Some(width) = *width else {
            return Err(problem("cannot refer to an open group", at));
        };
        self.check_look_behind(group, at)?;
        self.referenced.insert(group);
        self.traits.backtracks = true;
        let ignore_case = self.flags.contains(PythonFlags::IGNORE_CASE);
        Ok(Part { node: Node::Reference { group, ignore_case }, width })
    }

    fn check_look_behind(&self, group: usize, at: Range<usize>) -> Result<(), PatternError> {
        let Some(groups_before) = self.look_behind else {
            return Ok(());
        };
        match self.groups.get(group) {
            Some(Some(_)) if group < groups_before => Ok(()),
            Some(Some(_)) => Err(problem("cannot refer to group defined in the same look-behind", at)),
            _ => Err(problem("cannot refer to an open group", at)),
        }
    }

    /// A backslash outside a class.
    fn escape(&mut self) -> Result<Part, PatternError> {
        let start = self.at;
        let c = self.escaped()?;
        let alphabet = self.flags.alphabet();
        Ok(match c {
            'A' => position(Node::TextStart),
            'Z' => position(Node::TextEnd),
            'b' | 'B' => {
                match (c, alphabet) {
                    ('b', Alphabet::Unicode) => self.traits.boundary = true,
                    ('b', Alphabet::Ascii) => {}
                    (_, Alphabet::Unicode) => self.traits.non_boundary = true,
                    (_, Alphabet::Ascii) => self.traits.ascii_non_boundary = true,
                }
                // Written out exactly, a boundary takes four looks at the class of words.
                self.weigh(4)?;
                position(Node::Boundary { inside: c == 'B', alphabet })
            }
            '0' => {
                let point = self.octal(start, 3)?;
                self.literal(point)
            }
            '1'..='9' => return self.numbered(start),
            _ => match category(c, alphabet) {
                Some(category) => {
                    self.weigh(1)?;
                    let points = ClassUnicode::empty();
                    set_part(Set { negated: false, points, categories: vec![category] })
                }
                None => {
                    let point = self.character(start, c)?;
                    self.literal(point)
                }
            },
        })
    }

    /// `\12`: three octal digits are a character, anything else refers to a group.
    fn numbered(&mut self, start: usize) -> Result<Part, PatternError> {
        let digits = self.text[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let octal = self.text[start + 1..].bytes().take_while(|it| matches!(it, b'0'..=b'7'));
        if octal.take(3).count() == 3 {
            let point = self.octal(start, 3)?;
            return Ok(self.literal(point));
        }
        self.at = start + 1 + digits.min(2);
        let at = start..self.at;
        let group = self.text[start + 1..self.at].parse().unwrap_or(usize::MAX);
        self.reference(group, at)
    }

    /// The character of an escape that means one and the same inside a class and outside.
    fn character(&mut self, start: usize, c: char) -> Result<u32, PatternError> {
        Ok(match c {
            'a' => 0x07,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'x' => self.hexadecimal(start, 2)?,
            'u' => self.hexadecimal(start, 4)?,
            'U' => self.hexadecimal(start, 8)?,
            'N' => {
                let message = r"named characters (`\N{..}`) are not supported; use `\u` and the code point";
                return Err(problem(message, start..self.at));
            }
            _ if c.is_ascii_alphanumeric() => {
                return Err(problem(format!("bad escape `\\{c}`"), start..self.at));
            }
            _ => u32::from(c),
        })
    }

    /// Takes a backslash and what follows it.
    fn escaped(&mut self) -> Result<char, PatternError> {
        let start = self.at;
        self.eat('\\');
        let Some(c) = self.peek() else {
            return Err(problem("bad escape (end of pattern)", start..self.at));
        };
        self.at += c.len_utf8();
        Ok(c)
    }

    fn hexadecimal(&mut self, start: usize, length: usize) -> Result<u32, PatternError> {
        let rest = self.text[self.at..].bytes();
        let digits = rest.take(length).take_while(u8::is_ascii_hexdigit).count();
        self.at += digits;
        let escape = &self.text[start..self.at];
        if digits < length {
            return Err(problem(format!("incomplete escape `{escape}`"), start..self.at));
        }
        match u32::from_str_radix(&escape[2..], 16) {
            Ok(point) if point <= u32::from(char::MAX) => Ok(point),
            _ => Err(problem(format!("bad escape `{escape}`"), start..self.at)),
        }
    }

    /// Reads up to `most` octal digits after the backslash at `start`.
    fn octal(&mut self, start: usize, most: usize) -> Result<u32, PatternError> {
        let rest = self.text[start + 1..].bytes();
        let digits = rest.take(most).take_while(|it| matches!(it, b'0'..=b'7')).count();
        self.at = start + 1 + digits;
        let escape = &self.text[start..self.at];
        match u32::from_str_radix(&escape[1..], 8) {
            Ok(point) if point <= 0o377 => Ok(point),
            _ => {
                let message = format!("octal escape value `{escape}` outside of range 0-0o377");
                Err(problem(message, start..self.at))
            }
        }
    }

    /// A class from `[` to `]`, where only `]`, `\`, `^` at the start and `-` between mean
    /// anything.
    fn class(&mut self) -> Result<Part, PatternError> {
        let start = self.at;
        self.eat('[');
        let negated = self.eat('^');
        let mut points = Vec::new();
        let mut categories = Vec::new();
        let first = self.at;
        loop {
            let member_start = self.at;
            if self.at > first && self.eat(']') {
                break;
            }
            let low = self.member(start)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                match low {
                    Member::Point(point) => points.extend(ranges(point, point)),
                    Member::Category(category) if categories.contains(&category) => {}
                    Member::Category(category) => categories.push(category),
                }
                continue;
            }
            self.eat('-');
            let high = self.member(start)?;
            let at = member_start..self.at;
            match (low, high) {
                (Member::Point(low), Member::Point(high)) if low <= high => {
                    points.extend(ranges(low, high));
                }
                _ => {
                    let range = &self.text[at.clone()];
                    return Err(problem(format!("bad character range `{range}`"), at));
                }
            }
        }
        let mut points = ClassUnicode::new(points);
        let n_points: usize = points.iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
        self.weigh(categories.len() + n_points / (1 << 14))?;
        self.fold(&mut points);
        Ok(set_part(Set { negated, points, categories }))
    }

    fn member(&mut self, class_start: usize) -> Result<Member, PatternError> {
        let start = self.at;
        let unterminated = || problem("unterminated character set", class_start..class_start + 1);
        let c = self.peek().ok_or_else(unterminated)?;
        if c != '\\' {
            self.at += c.len_utf8();
            return Ok(Member::Point(u32::from(c)));
        }
        let c = self.escaped()?;
        if let Some(category) = category(c, self.flags.alphabet()) {
            return Ok(Member::Category(category));
        }
        Ok(Member::Point(match c {
            'b' => 0x08,
            '0'..='7' => self.octal(start, 3)?,
            _ => self.character(start, c)?,
        }))
    }

    /// One character, or the characters it stands for when case is ignored.
    fn literal(&self, point: u32) -> Part {
        let mut points = ClassUnicode::new(ranges(point, point));
        self.fold(&mut points);
        match points.ranges() {
            [range] if range.start() == range.end() => Part { node: Node::Char(range.start()), width: Width::ONE },
            _ => set_part(Set { negated: false, points, categories: Vec::new() }),
        }
    }

    /// Adds what differs only in case, if the flags say so.
    ///
    /// The engines' own case-insensitivity is never used: it has no ASCII form in both, it does
    /// not take the four kinds of `i` for one as Python does, and inside a class it would fold
    /// `\W` as well.
    fn fold(&self, points: &mut ClassUnicode) {
        if !self.flags.contains(PythonFlags::IGNORE_CASE) {
            return;
        }
        match self.flags.alphabet() {
            Alphabet::Unicode => {
                points.case_fold_simple();
                if "iIİı".chars().any(|c| has(points, c)) {
                    "iIİı".chars().for_each(|c| points.push(ClassUnicodeRange::new(c, c)));
                }
            }
            Alphabet::Ascii => {
                for lower in 'a'..='z' {
                    let upper = lower.to_ascii_uppercase();
                    if has(points, lower) || has(points, upper) {
                        points.push(ClassUnicodeRange::new(lower, lower));
                        points.push(ClassUnicodeRange::new(upper, upper));
                    }
                }
            }
        }
    }

    fn weigh(&mut self, weight: usize) -> Result<(), PatternError> {
        self.weight += weight;
        if self.weight <= MAX_WEIGHT {
            return Ok(());
        }
        Err(problem("the pattern has too many classes of characters", 0..self.text.len()))
    }

    fn skip_blanks(&mut self) {
        if !self.flags.contains(PythonFlags::VERBOSE) {
            return;
        }
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C' => self.at += 1,
                '#' => {
                    let line = self.rest().find('\n').map(|length| length + 1);
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => break,
            }
        }
    }

    fn digits(&mut self) -> &'p str {
        let start = self.at;
        self.at += self.rest().bytes().take_while(u8::is_ascii_digit).count();
        &self.text[start..self.at]
    }

    fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn here(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    fn unknown_extension(&self, start: usize, last: char) -> PatternError {
        let end = self.at + last.len_utf8();
        problem(format!("unknown extension `{}`", &self.text[start + 1..end]), start..end)
    }
}

impl Node {
    /// Whether this is one of the positions that Python refuses to repeat.
    fn is_position(&self) -> bool {
        matches!(
            self,
            Node::TextStart | Node::LineStart | Node::TextEnd | Node::Dollar | Node::LineEnd | Node::Boundary { .. }
        )
    }
}

fn repeat(target: Part, quantifier: Quantifier) -> Part {
    let Quantifier { least, most, greed } = quantifier;
    let width = target.width.times(least, most);
    let inner = Box::new(target.node);
    if target.width.most > 0 {
        return Part { node: Node::Repeat { inner, least, most, greed }, width };
    }
    // Repeating what takes no character changes nothing after the first time, and
    // `fancy-regex` refuses to repeat a look-around.
    let node = match (least, most, greed) {
        (_, Some(0), _) => Node::Empty,
        (0, _, Greed::Lazy) => Node::Choice(vec![Node::Empty, *inner]),
        (0, _, Greed::Greedy) => Node::Choice(vec![*inner, Node::Empty]),
        (0, _, Greed::Possessive) => Node::Atomic(Box::new(Node::Choice(vec![*inner, Node::Empty]))),
        _ => *inner,
    };
    Part { node, width }
}

fn category(c: char, alphabet: Alphabet) -> Option<Category> {
    let kind = match c {
        'd' | 'D' => CategoryKind::Digit,
        's' | 'S' => CategoryKind::Space,
        'w' | 'W' => CategoryKind::Word,
        _ => return None,
    };
    Some(Category { kind, negated: c.is_ascii_uppercase(), alphabet })
}

/// The characters between two code points. The surrogates among them are left out: no text has
/// those, though Python lets a pattern ask.
fn ranges(low: u32, high: u32) -> impl Iterator<Item = ClassUnicodeRange> {
    let halves = [(low, high.min(0xD7FF)), (low.max(0xE000), high)];
    halves
        .into_iter()
        .filter(|(low, high)| low <= high)
        .filter_map(|(low, high)| Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?)))
}

fn has(points: &ClassUnicode, c: char) -> bool {
    points.iter().any(|range| range.start() <= c && c <= range.end())
}

fn check_flags(flags: PythonFlags, at: Option<Range<usize>>) -> Result<(), PatternError> {
    let message = if flags.contains(PythonFlags::LOCALE) {
        "the flag `LOCALE` is only for bytes, and this pattern is text"
    } else if flags.contains(PythonFlags::ASCII | PythonFlags::UNICODE) {
        "the flags `ASCII` and `UNICODE` are incompatible"
    } else {
        return Ok(());
    };
    Err(PatternError { message: message.to_owned(), at })
}

fn set_part(set: Set) -> Part {
    Part { node: Node::Set(set), width: Width::ONE }
}

fn position(node: Node) -> Part {
    Part { node, width: Width::ZERO }
}

fn invalid_reference(group: usize, at: Range<usize>) -> PatternError {
    problem(format!("invalid group reference {group}"), at)
}

fn problem(message: impl Into<String>, at: Range<usize>) -> PatternError {
    PatternError { message: message.into(), at: Some(at) }
}
