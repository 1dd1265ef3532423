//! The runners: one line for each kind of agent, and which file knows it.

use super::launch::{Errand, Launch, ModelAt, Wire};
use super::told::Told;
use super::{claude_code, codex, command, gemini_cli, mini_swe_agent, openclaw, opencode, pi, qwen_code};

/// Who runs a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    /// Any program that speaks the protocol of [`super`]'s `command`.
    Command,
    /// A function of the program that runs the suite.
    Call,
    /// Nobody: the artifact is there already.
    Recorded,
    /// A model with tools, asked by jurat itself.
    LlmProbe,
    OpenClaw,
    ClaudeCode,
    Codex,
    GeminiCli,
    QwenCode,
    OpenCode,
    /// The pi coding agent.
    Pi,
    MiniSweAgent,
}

impl Runner {
    /// Every runner, by the name that authors write.
    pub const NAMED: [(&'static str, Runner); 12] = [
        ("command", Runner::Command),
        ("call", Runner::Call),
        ("recorded", Runner::Recorded),
        ("llm_probe", Runner::LlmProbe),
        ("openclaw", Runner::OpenClaw),
        ("claude_code", Runner::ClaudeCode),
        ("codex", Runner::Codex),
        ("gemini_cli", Runner::GeminiCli),
        ("qwen_code", Runner::QwenCode),
        ("opencode", Runner::OpenCode),
        ("pi", Runner::Pi),
        ("mini_swe_agent", Runner::MiniSweAgent),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }

    /// The program that it starts, where programs are looked for; `None` when it starts none of its own.
    pub fn program(self) -> Option<&'static str> {
        Some(match self {
            Runner::Command | Runner::Call | Runner::Recorded | Runner::LlmProbe => return None,
            Runner::OpenClaw => "openclaw",
            Runner::ClaudeCode => "claude",
            Runner::Codex => "codex",
            Runner::GeminiCli => "gemini",
            Runner::QwenCode => "qwen",
            Runner::OpenCode => "opencode",
            Runner::Pi => "pi",
            Runner::MiniSweAgent => "mini",
        })
    }

    /// How its program asks models; `None` when it asks in any way, or none.
    pub fn wire(self) -> Option<Wire> {
        match self {
            Runner::Command | Runner::Call | Runner::Recorded | Runner::LlmProbe => None,
            Runner::ClaudeCode => Some(Wire::Anthropic),
            Runner::Codex => Some(Wire::OpenAiResponses),
            Runner::GeminiCli => Some(Wire::Gemini),
            Runner::OpenClaw | Runner::QwenCode | Runner::OpenCode | Runner::Pi | Runner::MiniSweAgent => {
                Some(Wire::OpenAiChat)
            }
        }
    }

    /// Whether it cannot do without a model.
    pub fn needs_model(self) -> bool {
        !matches!(self, Runner::Command | Runner::Call | Runner::Recorded)
    }

    /// Whether it can be told more than one thing in a run.
    pub fn takes_turns(self) -> bool {
        !matches!(self, Runner::MiniSweAgent | Runner::Recorded)
    }

    /// Whether the usage that its program reports in a turn is that of the whole session so far.
    pub(super) fn counts_session(self) -> bool {
        matches!(self, Runner::Codex | Runner::QwenCode)
    }

    /// What else than its output tells what happened, below its home.
    pub fn side_file(self) -> Option<SideFile> {
        match self {
            Runner::MiniSweAgent => Some(SideFile::Text(mini_swe_agent::TRAJECTORY)),
            Runner::OpenClaw => Some(SideFile::OpenClawState(openclaw::STATE)),
            _ => None,
        }
    }
}

/// What else than its output tells what a program did; paths are relative to its home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideFile {
    /// A file that is read as it is.
    Text(&'static str),
    /// The state of OpenClaw, whose transcript is read as lines.
    OpenClawState(&'static str),
}

/// How a runner starts its program for a turn; `None` for runners that start none.
pub fn launch(runner: Runner, errand: &Errand<'_>, model: Option<&ModelAt>) -> Option<Launch> {
    if runner == Runner::Command {
        return Some(command::launch(errand, model));
    }
    let model = model?;
    // What begins like an option, or like the name of a file, would be taken for one.
    let message = match errand.message.chars().next() {
        Some('-' | '@') => format!("\n{}", errand.message),
        _ => errand.message.to_owned(),
    };
    let errand = &Errand { message: &message, ..*errand };
    Some(match runner {
        Runner::OpenClaw => openclaw::launch(errand, model),
        Runner::ClaudeCode => claude_code::launch(errand, model),
        Runner::Codex => codex::launch(errand, model),
        Runner::GeminiCli => gemini_cli::launch(errand, model),
        Runner::QwenCode => qwen_code::launch(errand, model),
        Runner::OpenCode => opencode::launch(errand, model),
        Runner::Pi => pi::launch(errand, model),
        Runner::MiniSweAgent => mini_swe_agent::launch(errand, model),
        Runner::Command | Runner::Call | Runner::Recorded | Runner::LlmProbe => return None,
    })
}

/// What a program left of a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Printed<'p> {
    pub stdout: &'p str,
    /// The text of its [`SideFile`], as far as it belongs to this turn.
    pub side: &'p str,
    /// Whether its output is what it says, rather than events.
    pub is_text: bool,
}

/// What a program told about a turn.
pub fn read(runner: Runner, printed: Printed<'_>) -> Told {
    let Printed { stdout, side, is_text } = printed;
    let told = match runner {
        Runner::Command if is_text => command::read_text(stdout),
        Runner::Command => command::read(stdout),
        Runner::OpenClaw => openclaw::read(stdout, side),
        Runner::ClaudeCode => claude_code::read(stdout),
        Runner::Codex => codex::read(stdout),
        Runner::GeminiCli => gemini_cli::read(stdout),
        Runner::QwenCode => qwen_code::read(stdout),
        Runner::OpenCode => opencode::read(stdout),
        Runner::Pi => pi::read(stdout),
        Runner::MiniSweAgent => mini_swe_agent::read(side),
        Runner::Call | Runner::Recorded | Runner::LlmProbe => Told::default(),
    };
    told.finish()
}
