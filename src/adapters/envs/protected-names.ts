/**
 * Protected names: files and folders of a workspace that agents must not write, because git, Tireless, an editor or
 * another agent program later runs or obeys them with the owner's rights, without asking. Git in the sandbox may change
 * the rest of `.git`; file tools may not write there at all. Files that take effect only when the owner runs them are
 * not protected: package.json, Makefiles, workflows, sources.
 */

/** Names that are protected at any depth of the workspace. */
const PROTECTED: ReadonlySet<string> = new Set(
  [
    '.tireless',
    // Files of agent programs: their permissions, the commands they start, their instructions.
    '.mcp.json .claude .codex .cursor .gemini .windsurf .continue .cline .clinerules .roo .roomodes .opencode .kiro',
    '.amazonq .junie .aiassistant .augment .kilocode .trae .qwen .factory .crush .openhands .copilot .goosehints',
    '.cursorrules .windsurfrules .augment-guidelines .aider.conf.yml',
    'claude.md claude.local.md agents.md agents.override.md gemini.md qwen.md crush.md warp.md copilot-instructions.md',
    'opencode.json opencode.jsonc crush.json .crush.json',
    // Editors, shells and hooks that run something when a folder is opened, entered or committed to.
    '.vscode .idea .run .zed .helix .vs .externaltoolbuilders .devcontainer .devcontainer.json .envrc .husky',
    'mise.toml .mise.toml mise.local.toml .mise.local.toml .mise',
    '.exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el',
    // Debuggers and language shells, which read these files in the folder where they start.
    '.gdbinit .lldbinit .pdbrc .perldb .irbrc .pryrc .rprofile .rdata .octaverc .ghci .ocamlinit .iex.exs',
    // Configuration files of Mercurial and of programs derived from it.
    'hgrc hgrc-not-shared',
    // Other version control systems. All of `.jj`, because `.jj/repo` may point to any folder, and the place of its
    // configuration differs between versions.
    '.jj .repo .fslckout _fossil_ .p4config .arcconfig',
  ].flatMap((names) => names.split(' ')),
)
/** Names that are protected only at the top of the workspace. */
const PROTECTED_AT_TOP: ReadonlySet<string> = new Set(['tireless.yaml'])
/** Names that are protected only in a folder with the name that is the key. */
const PROTECTED_IN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['.github', new Set(['instructions', 'prompts', 'agents', 'chatmodes'])],
  ['.config', new Set(['mise', 'mise.toml'])],
  ['.hg', new Set(['config', 'sharedpath'])],
  ['.sl', new Set(['config', 'sharedpath'])],
  // In a git repository, Sapling keeps its files in `.git/sl`.
  ['sl', new Set(['config', 'sharedpath'])],
  ['.pijul', new Set(['config'])],
  // darcs reads `_darcs/prefs`, Breezy reads `.bzr/branch`.
  ['prefs', new Set(['defaults', 'prefs'])],
  ['branch', new Set(['branch.conf'])],
])

/** Why file tools must not write the path; undefined if they may. Pure. `names`: the path's parts below the root. */
export function protectionReason(names: readonly string[]): string | undefined {
  if (names.some(isGitName)) return 'inside .git: file tools do not write there, use git'
  if (names.some((name, depth) => isProtectedName(name, names[depth - 1])))
    return 'a protected name: another program would run or obey it'
  // Git treats a folder as a repository only if it contains a file HEAD or commondir.
  const last = normalizeName(names.at(-1) ?? '')
  return last === 'head' || last === 'commondir' ? 'a name that makes git treat the folder as a repository' : undefined
}

/** `folder`: the name of the parent folder; undefined at the top of the workspace. */
export function isProtectedName(name: string, folder: string | undefined): boolean {
  const normalized = normalizeName(name)
  if (PROTECTED.has(normalized)) return true
  return folder === undefined
    ? PROTECTED_AT_TOP.has(normalized)
    : (PROTECTED_IN.get(normalizeName(folder))?.has(normalized) ?? false)
}

/** True for `.git`, also in the short 8.3 form `git~1`. */
export const isGitName = (name: string): boolean => /^(\.git|git~\d+)$/.test(normalizeName(name))

/**
 * The name as lenient file systems compare it: without case (a long s equals s), invisible or ignored characters,
 * trailing dots or blanks, or an NTFS stream name (`:…`).
 */
const normalizeName = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[. ]*(:.*)?$/, '')
    .toUpperCase()
    .toLowerCase()
