// Loaded by `--import`: replaces a piece of one source file of the program before it runs.

import { registerHooks } from 'node:module'

const { file, code, instead } = Object.fromEntries(new URL(import.meta.url).searchParams)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(file)) return loaded
    const source = String(loaded.source)
    if (!source.includes(code)) throw new Error(`${file} does not contain: ${code}`)
    return { ...loaded, source: source.replace(code, instead) }
  },
})
