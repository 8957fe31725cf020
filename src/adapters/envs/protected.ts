/**
 * Names of a workspace that agents do not write: what git, Tireless or another agent's program would later run or obey with the
 * owner's rights. Git inside the sandbox may still change the rest of its folder; file tools have no business in it at all.
 */

/** At the top of the workspace. */
export const PROTECTED = [
  ...['.tireless', 'tireless.yaml'],
  ...['.mcp.json', '.claude', '.codex', '.cursor', '.gemini'],
] as const

/** Contract: pure; why nothing may be written there, or nothing. `names` lead to it from the root. */
export function whyProtected(names: readonly string[]): string | undefined {
  if (names.some(isGit)) return 'inside .git, which is not written to: use git for what git keeps'
  const top = plain(names[0] ?? '')
  return PROTECTED.some((name) => name === top) ? 'a name that agents do not write: what it says is obeyed' : undefined
}

/** As some file systems read it, too: without regard to case, without what cannot be seen, without dots or blanks at its end. */
const plain = (name: string): string =>
  name
    .replaceAll(/\p{Cf}/gu, '')
    .replace(/[. ]*(:.*)?$/, '')
    .toLowerCase()

/** By its short name, too. */
const isGit = (name: string): boolean => /^(\.git|git~\d+)$/.test(plain(name))
