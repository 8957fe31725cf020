/** Placeholders: `‹secret:NAME›` stands in every text for a text that is hidden there. Pure. */

/** Also one that was cut off: it must not be taken for ordinary text. */
const PLACEHOLDER = /‹secret:[^‹›\n]*›?/g

/** `tag`: tells apart the hidden texts of one name; absent for the secret itself. */
export const placeholderFor = (name: string, tag?: string): string =>
  `‹secret:${name}${tag === undefined ? '' : `#${tag}`}›`

/** Contract: each placeholder once. */
export const placeholdersIn = (text: string): readonly string[] => [...new Set(text.match(PLACEHOLDER) ?? [])]

export const hasPlaceholder = (text: string): boolean => text.includes('‹secret:')

/** `textOf` gets each placeholder with its index in the text. */
export const replacePlaceholders = (text: string, textOf: (placeholder: string, at: number) => string): string =>
  text.replaceAll(PLACEHOLDER, textOf)
