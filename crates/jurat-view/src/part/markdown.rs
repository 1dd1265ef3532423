//! Markdown of models as a page: headings, lists, tables, code and emphasis. Raw HTML and images stay text, and links go to the web alone, shown in full.

use jurat_report::{visible, visible_line};
use maud::{Markup, Render as _, html};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Beyond this, a text is shown as it is.
const MOST_BYTES: usize = 64 << 10;

/// Whether a text looks as if its author meant Markdown.
pub(crate) fn is_likely(text: &str) -> bool {
    let begins = ["# ", "## ", "### ", "- ", "* ", "1. ", "> ", "```", "| "];
    text.len() <= MOST_BYTES
        && (text.contains("**")
            || text.contains("](")
            || text.lines().any(|line| begins.iter().any(|it| line.starts_with(it))))
}

/// A text, rendered.
pub(crate) fn markdown(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page::default();
    Parser::new_ext(text, options).for_each(|it| page.take(it));
    page.close();
    html! { div.markdown { bdi { (maud::PreEscaped(page.out)) } } }
}

/// Elements as they are written. Only names of elements that stand here reach the page; all text is escaped.
#[derive(Default)]
struct Page {
    out: String,
    open: Vec<&'static str>,
    /// The target of a link that is open; `None` inside for one that leads nowhere.
    links: Vec<Option<String>>,
    is_head: bool,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.out += "<code>";
                visible_line(&text).render_to(&mut self.out);
                self.out += "</code>";
            }
            // What is markup to a browser is text here.
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out += "<br>",
            Event::Rule => self.out += "<hr>",
            Event::TaskListMarker(is_done) => self.out += if is_done { "☑ " } else { "☐ " },
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn text(&mut self, text: &str) {
        visible(text).render_to(&mut self.out);
    }

    fn open(&mut self, name: &'static str) {
        self.out += &format!("<{name}>");
        self.open.push(name);
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Link { dest_url, .. } => self.start_link(dest_url),
            Tag::Image { dest_url, .. } => {
                let words = format!("[image {dest_url}] ");
                self.text(&words);
            }
            Tag::TableHead => {
                self.is_head = true;
                self.open("thead");
                self.open("tr");
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.open("pre");
                self.open("code");
            }
            other => {
                if let Some(name) = element(other, self.is_head) {
                    self.open(name);
                }
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => {
                if let Some(Some(target)) = self.links.pop() {
                    self.out += "</a> ";
                    self.text(&format!("({target})"));
                }
            }
            TagEnd::TableHead => {
                self.is_head = false;
                self.shut(2);
                self.open("tbody");
            }
            TagEnd::Table => self.shut(2),
            TagEnd::CodeBlock => self.shut(2),
            TagEnd::Image | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition | TagEnd::MetadataBlock(_) => {}
            _ => self.shut(1),
        }
    }

    fn shut(&mut self, n: usize) {
        for name in (0..n).filter_map(|_| self.open.pop()).collect::<Vec<_>>() {
            self.out += &format!("</{name}>");
        }
    }

    fn start_link(&mut self, target: &str) {
        let is_web = ["http://", "https://"].iter().any(|it| target.to_ascii_lowercase().starts_with(it));
        self.links.push(is_web.then(|| target.to_owned()));
        if is_web {
            self.out += "<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"";
            target.render_to(&mut self.out);
            self.out += "\">";
        } else {
            self.text(&format!("[{target}] "));
        }
    }

    fn close(&mut self) {
        self.shut(self.open.len());
    }
}

/// The element of a part. Headings are below those of the page.
fn element(tag: &Tag<'_>, is_head: bool) -> Option<&'static str> {
    Some(match tag {
        Tag::Paragraph => "p",
        Tag::Heading { .. } => "h5",
        Tag::BlockQuote(_) => "blockquote",
        Tag::List(Some(_)) => "ol",
        Tag::List(None) => "ul",
        Tag::Item => "li",
        Tag::Emphasis => "em",
        Tag::Strong => "strong",
        Tag::Strikethrough => "s",
        Tag::Table(_) => "table",
        Tag::TableRow => "tr",
        Tag::TableCell => {
            if is_head {
                "th"
            } else {
                "td"
            }
        }
        Tag::Superscript => "sup",
        Tag::Subscript => "sub",
        Tag::DefinitionList => "dl",
        Tag::DefinitionListTitle => "dt",
        Tag::DefinitionListDefinition => "dd",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn rendered(text: &str, expected: &str) {
        let page = markdown(text).into_string();
        let inner = page.strip_prefix("<div class=\"markdown\"><bdi>").and_then(|it| it.strip_suffix("</bdi></div>"));
        assert_eq!(inner, Some(expected));
    }

    #[test]
    fn what_people_write_is_rendered() {
        rendered("# One\n\n**two** and `three`", "<h5>One</h5><p><strong>two</strong> and <code>three</code></p>");
        rendered("- a\n- b", "<ul><li>a</li><li>b</li></ul>");
        rendered(
            "| a |\n|---|\n| b |",
            "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>",
        );
        rendered("```html\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>");
    }

    #[test]
    fn what_could_do_harm_stays_text() {
        rendered("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        rendered("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
        rendered("![x](https://example.org/pixel.png)", "<p>[image https://example.org/pixel.png] x</p>");
        rendered("[x](javascript:alert(1))", "<p>[javascript:alert(1)] x</p>");
        rendered(
            "[x](https://example.org/?a=\"b)",
            "<p><a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"https://example.org/?a=&quot;b\">x</a> (https://example.org/?a=&quot;b)</p>",
        );
    }

    proptest! {
        /// Whatever is written, elements nest and only those that are known come out.
        #[test]
        fn elements_nest(text in "([-#>*_`|\\[\\]()!<a1. \n]|\n\n|https://x ){0,60}") {
            let page = markdown(&text).into_string();
            let mut open = Vec::new();
            for part in page.split('<').skip(1) {
                let name = part.split(['>', ' ']).next().unwrap_or_default();
                match name.strip_prefix('/') {
                    Some(name) => prop_assert_eq!(open.pop(), Some(name), "{}", page),
                    None if ["br", "hr"].contains(&name) => {}
                    None => open.push(name),
                }
            }
            prop_assert!(open.is_empty(), "{}", page);
        }
    }
}
