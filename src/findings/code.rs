//! The codes of findings that are no notes of a plan.

use super::Severity;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal $severity:ident,)+) => {
        /// Codes beside those of notes ([`squire_strategies::Code`]). Their words are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OwnCode { $($(#[doc = $doc])+ $variant,)+ }

        impl OwnCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word in output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// How much such a finding matters.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }
        }
    };
}

codes! {
    /// A file of the user or the machine says what can't be.
    Invalid = "invalid" Error,
    /// Every launch is refused, for a reason that no place in a file explains.
    Refused = "refused" Error,
    /// A reference that can't be resolved.
    UnsetVariable = "unset-variable" Error,
    /// A secret that the user's secrets.toml does not have.
    UnknownSecret = "unknown-secret" Error,
    /// A secret whose value can't be had, or is not for the server.
    UnusableSecret = "unusable-secret" Error,
    /// A secret in an argument, which every user of the machine can read.
    SecretInArgv = "secret-in-argv" Warning,
    /// A credential that a declaration of the user holds in clear.
    LiteralCredential = "literal-credential" Warning,
    /// A reference chooses the transport, and comes out as none that the declaration has.
    UnknownTransport = "unknown-transport" Error,
    /// A profile can't do without a server, and it would not be there.
    Required = "required" Error,
    /// The program of a server is not there, or can't be executed: the agent would get no tools of it.
    NoProgram = "no-program" Warning,
    /// The directory that a server is to run in is not there.
    NoDirectory = "no-directory" Warning,
    /// The agent's own program is not there.
    NotInstalled = "not-installed" Note,
}
