/** Names of received files: anyone may have chosen them, so they become plain names of files. Pure. */

const MAX_NAME = 100
const MAX_ENDING = 20
/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
/** Separators of paths, characters that some systems refuse, and characters that are invisible or turn the text. */
const UNSAFE = /[\p{C}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"|?*\\/`[\]]/gu

/** Contract: one name without a path, of at most 100 characters; never empty, never hidden. */
export function safeFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = last
    .normalize('NFC')
    .replaceAll(UNSAFE, '_')
    .trim()
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '')
  const [stem, ending] = splitEnding(clean)
  const short = `${[...stem].slice(0, MAX_NAME - ending.length).join('')}${ending}`
  if (short === '' || /^_*$/.test(short)) return 'file'
  return DEVICE.test(short) ? `_${short}` : short
}

/** Contract: the names in their order; a name that was used before gets a number, whatever its case. */
export function distinctNames(names: readonly string[]): readonly string[] {
  const used = new Set<string>()
  return names.map((name) => {
    const [stem, ending] = splitEnding(name)
    let distinct = name
    for (let n = 2; used.has(distinct.toLowerCase()); n += 1) distinct = `${stem}-${n}${ending}`
    used.add(distinct.toLowerCase())
    return distinct
  })
}

function splitEnding(name: string): readonly [string, string] {
  const at = name.lastIndexOf('.')
  return at <= 0 || name.length - at > MAX_ENDING ? [name, ''] : [name.slice(0, at), name.slice(at)]
}
