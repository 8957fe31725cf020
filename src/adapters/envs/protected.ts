/**
 * Names of a workspace that agents do not write: what git, Tireless, an editor or another agent's program would later run or obey with the
 * owner's rights, without asking. Git inside the sandbox may still change the rest of its folder; file tools have no business in it at all.
 * Not among them is what the owner runs by a word of his own: package.json, Makefiles, workflows, sources.
 */

/** Wherever they lie. */
const PROTECTED: ReadonlySet<string> = new Set([
  '.tireless',
  // Programs that are agents: what they may do, what they start, what they are told.
  ...[
    '.mcp.json',
    '.claude',
    '.codex',
    '.cursor',
    '.gemini',
    '.windsurf',
    '.continue',
    '.cline',
    '.clinerules',
    '.roo',
  ],
  ...['.opencode', '.goosehints', '.cursorrules', '.windsurfrules', '.aider.conf.yml', '.kiro', '.amazonq'],
  ...['claude.md', 'claude.local.md', 'agents.md', 'agents.override.md', 'gemini.md'],
  // Editors, shells and hooks that start something when a folder is opened, entered or committed to.
  ...['.vscode', '.idea', '.zed', '.envrc', '.husky'],
])
/** At the top of the workspace. */
const PROTECTED_AT_TOP: ReadonlySet<string> = new Set(['tireless.yaml'])

/** Contract: pure; why nothing may be written there, or nothing. `names` lead to it from the root. */
export function whyProtected(names: readonly string[]): string | undefined {
  if (names.some(isGitName)) return 'inside .git, which is not written to: use git for what git keeps'
  if (names.some((name, depth) => isProtectedName(name, depth === 0)))
    return 'a name that agents do not write: what it says is obeyed'
  // Without one git takes no folder for a repository, whatever else lies in it.
  const last = plain(names.at(-1) ?? '')
  return last === 'head' || last === 'commondir' ? 'a name by which git takes a folder for a repository' : undefined
}

export function isProtectedName(name: string, isAtTop: boolean): boolean {
  const read = plain(name)
  return PROTECTED.has(read) || (isAtTop && PROTECTED_AT_TOP.has(read))
}

/** By its short name, too. */
export const isGitName = (name: string): boolean => /^(\.git|git~\d+)$/.test(plain(name))

/** As some file systems read it, too: without regard to case, without what cannot be seen, without dots or blanks at its end. */
const plain = (name: string): string =>
  name
    .replaceAll(/\p{Cf}/gu, '')
    .replace(/[. ]*(:.*)?$/, '')
    .toLowerCase()
