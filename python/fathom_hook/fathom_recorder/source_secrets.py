"""Hides secrets that a source file holds: texts of known shape, and those that are given to a name
of a secret. What a copy of the file shows keeps its lines."""

from __future__ import annotations

import re

HIDDEN = "[redacted]"

# As in src/capture/launcher/secrets.cc, where what is a plain word too is looked at more closely.
_SHAPE = re.compile(
    r"""(?<![\w-])(?:
      (?:hf_|npm_|gsk_|r8_)[A-Za-z0-9]{20,}
    | (?:gh[opsur]_|github_pat_|gl[a-z]{2,4}-|xox[abeprs][.-]|xapp-|nvapi-|dckr_pat_|[sr]k_live_|sk_test_
        |whsec_|tgp_v1_|lsv2_|hvs\.|dop_v1_|wandb_v1_|shpat_|lin_api_|tskey-|esecret_|ya29\.)[\w.-]{16,}
    | (?:c?sk-|pypi-|pplx-|xai-|SG\.)(?=[\w.-]*[0-9])[\w.-]{16,}
    | (?:AKIA|ASIA)[A-Z0-9]{12,} | AIza[\w-]{20,} | eyJ[\w.-]{30,}
    | [0-9a-fA-F]{40}(?![\w-])
    | (?:(?<=Bearer\ )|(?<=bearer\ )|(?<=Basic\ ))(?=[\w.~+/-]*[0-9])[\w.~+/-]{12,}=*
    )""",
    re.VERBOSE,
)
_BEGIN = r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: [A-Z]+)*-----"
# A program may name the first line, or both, to look for them: what is no key between them stays.
_KEY = re.compile(_BEGIN + r"((?:(?!-----BEGIN ).){0,20000}?)(?=-----END )", re.DOTALL)
_LINE_OF_KEY = re.compile(r"""[\s"'(#]*(?:[\w-]+: .*|[A-Za-z0-9+/=\\]+)[\s"',+)\\]*""")
_CUT_KEY = re.compile(_BEGIN + r"""((?:[\s"']|\\[nr])*[A-Za-z0-9+/=]{20,}[A-Za-z0-9+/=\s\\"']*)""")
_ADDRESS = re.compile(r"(?<=://)[^\s/:@'\"]*:[^\s/@'\"{}]+(?=@)")
# A name that ends so: pad_token and tokenizer are none. password = "…", "api_key": "…".
_GIVEN = re.compile(
    r"""(?i)(?:(?:password|passwd|passphrase|secret|credentials?|api_?key|secret_?key|access_?key
      |private_?key|(?:auth|access|api|hf|hub|bearer|refresh|github|wandb)_?token)
    | (?<![a-z0-9_])token)
    (?:["']\s*\])?["']?\s*
    (?:(?::\ *(?:\w+\.)?(?:str|bytes|Any|Final|ClassVar|Optional|Union|SecretStr)
      (?:\[[^=\n"']{0,60}?\])?(?:\ *\|\ *\w+)*\ *)?=(?!=)|:)
    [^\S\n]*[rbufRBUF]{0,2}
    (?:("{3}|'{3})((?:(?!\1)[^\\]|\\.){1,20000}?)(?=\1) | (["'])((?:(?!\3)[^\n\\]|\\.)+)(?=\3))""",
    re.VERBOSE | re.DOTALL,
)
# "Server=db;Password=…;", "?password=…&".
_IN_TEXT = re.compile(r"""(?i)(?<=password=)[^\s;"'&{}()\[\],]+(?=[;&])""")


def without_secrets(text: str) -> str:
    """The same lines."""
    text = _CUT_KEY.sub(_hide_lines, _KEY.sub(_hide_key, text))
    text = _IN_TEXT.sub(HIDDEN, _GIVEN.sub(_hide_given, text))
    return _SHAPE.sub(HIDDEN, _ADDRESS.sub(HIDDEN, text))


def _hide_given(found: re.Match[str]) -> str:
    return _hide_lines(found, 2 if found[2] else 4)


def _hide_key(found: re.Match[str]) -> str:
    begin = found[0][: found.start(1) - found.start()]
    lines = found[1].split("\n")
    return begin + "\n".join(HIDDEN if _LINE_OF_KEY.fullmatch(line) else line for line in lines)


def _hide_lines(found: re.Match[str], group: int = 1) -> str:
    begin = found[0][: found.start(group) - found.start()]
    return begin + "\n".join(HIDDEN if line.strip() else line for line in found[group].split("\n"))
