/** Label: the trust level of a text. Trust never rises by itself (I12): only an action of the owner raises a label. */

export const TRUSTS = ['trusted', 'untrusted'] as const
export type Trust = (typeof TRUSTS)[number]

export interface Label {
  readonly trust: Trust
  /** True: the text must not reach third parties. */
  readonly private: boolean
}

/** Label of a tool's result. `workspace`: the result is as trusted as the workspace. */
export interface ResultLabel {
  readonly trust: Trust | 'workspace'
  readonly private: boolean
}

/** The key of a workspace's label in the store. */
export const workspaceKey = (folder: string): string => `workspace ${folder}`

/** The key of a label that says that a hidden text was written into a file of the workspace. */
export const closedKey = (folder: string): string => workspaceKey(`${folder}/(hidden texts)`)

export const CLEAN_LABEL: Label = { trust: 'trusted', private: false }
export const UNTRUSTED_LABEL: Label = { trust: 'untrusted', private: false }
/** Of what must not leave, whoever asks for it: every way out needs the owner. */
export const CLOSED_LABEL: Label = { trust: 'untrusted', private: true }

export function lowestLabel(a: Label, b: Label): Label {
  if (isAtMost(a, b)) return a
  if (isAtMost(b, a)) return b
  return {
    trust: a.trust === 'untrusted' || b.trust === 'untrusted' ? 'untrusted' : 'trusted',
    private: a.private || b.private,
  }
}

/** True if `a` is at most as trusted as `b` and at least as private. */
const isAtMost = (a: Label, b: Label): boolean =>
  (a.trust === 'untrusted' || b.trust === 'trusted') && (a.private || !b.private)

export const isCleanLabel = (label: Label): boolean => label.trust === 'trusted' && !label.private

/** Labels of results that show contents of the workspace, or only the program's own text. */
export const LABEL_OF_WORKSPACE: ResultLabel = { trust: 'workspace', private: false }
/** Label of what commands print without a sandbox: they can read all files of the owner. */
export const LABEL_OF_MACHINE: ResultLabel = { trust: 'untrusted', private: true }
export const LABEL_OF_OWN_OUTPUT: ResultLabel = CLEAN_LABEL

/** Contract: pure; returns the label in one word, for tables. */
export function labelWord({ trust, private: isPrivate }: Label): string {
  if (trust === 'trusted') return isPrivate ? 'private' : 'trusted'
  return isPrivate ? 'untrusted+private' : 'untrusted'
}
