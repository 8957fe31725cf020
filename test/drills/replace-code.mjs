// Replaces pieces of source files of the program before they run. For modules that are loaded by `--import`.

import { registerHooks } from 'node:module'

/** `pieces`: `{ file, code, instead }`; `file` is the end of the file's address. Throws if a file lacks its code. */
export function replaceCode(pieces) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const wanted = pieces.filter(({ file }) => url.endsWith(file))
      if (wanted.length === 0) return loaded
      return { ...loaded, source: wanted.reduce(replacePiece, String(loaded.source)) }
    },
  })
}

function replacePiece(source, { file, code, instead }) {
  if (!source.includes(code)) throw new Error(`${file} does not contain: ${code}`)
  return source.replace(code, () => instead)
}
