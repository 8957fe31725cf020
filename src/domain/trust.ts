/** Label: what a text is worth. Trust never rises by itself (I12): only an owner's act raises a label. */

export const TRUSTS = ['trusted', 'untrusted'] as const
export type Trust = (typeof TRUSTS)[number]

export interface Label {
  readonly trust: Trust
  /** It is nobody else's business. */
  readonly private: boolean
}

/** What a tool's result is worth. `workspace`: whatever the workspace is worth. */
export interface Given {
  readonly trust: Trust | 'workspace'
  readonly private: boolean
}

/** Under which the label of a workspace is kept. */
export const workspaceKey = (folder: string): string => `workspace ${folder}`

export const CLEAN: Label = { trust: 'trusted', private: false }
export const UNTRUSTED: Label = { trust: 'untrusted', private: false }

export function lowest(a: Label, b: Label): Label {
  if (covers(a, b)) return a
  if (covers(b, a)) return b
  return {
    trust: a.trust === 'untrusted' || b.trust === 'untrusted' ? 'untrusted' : 'trusted',
    private: a.private || b.private,
  }
}

/** Whether nothing is lost by taking `a` for both. */
const covers = (a: Label, b: Label): boolean =>
  (a.trust === 'untrusted' || b.trust === 'trusted') && (a.private || !b.private)

export const isClean = (label: Label): boolean => label.trust === 'trusted' && !label.private

/** Of tools: whatever lies in the workspace, or only what the program itself says. */
export const OF_WORKSPACE: Given = { trust: 'workspace', private: false }
export const OWN_WORDS: Given = CLEAN
