/** Colours of agents and models in the plot, by their rank. The class names are whole, so that they are found. */

const FILLS = [
  ...['fill-decide', 'fill-act', 'fill-live', 'fill-wait'],
  ...['fill-decide/50', 'fill-act/50', 'fill-live/50', 'fill-wait/50'],
]
const SWATCHES = [
  ...['bg-decide', 'bg-act', 'bg-live', 'bg-wait'],
  ...['bg-decide/50', 'bg-act/50', 'bg-live/50', 'bg-wait/50'],
]

type Keys = readonly { readonly key: string | null }[]

/** Contract: one colour for each key; what has no rank, such as all others, is grey. */
export const fillOf = (keys: Keys, key: string | null): string => byRank(FILLS, keys, key) ?? 'fill-other'
export const swatchOf = (keys: Keys, key: string | null): string => byRank(SWATCHES, keys, key) ?? 'bg-other'

const byRank = (colours: readonly string[], keys: Keys, key: string | null): string | undefined =>
  key === null ? undefined : colours[keys.findIndex((each) => each.key === key)]
