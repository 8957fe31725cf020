/**
 * The program inside the sandbox of a plugin. It reads messages from stdin and answers on stdout; what the plugin
 * prints goes to stderr.
 */

import { mkdirSync, mkdtempSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { servePlugin } from '../adapters/plugins/sandboxed/serve-plugin.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { randomIds } from '../adapters/system/ids.ts'

const own = (path: string): string => import.meta.resolve(`${path}${extname(import.meta.url)}`)

/** The part of the library that makes sense in the sandbox. */
const API = [
  `export { definePlugin } from '${own('../ports/plugin')}'`,
  `export { defineTool, inNamespace } from '${own('../ports/define-tool')}'`,
  `export { defineBehaviour } from '${own('../ports/behaviour')}'`,
  `export { TirelessError } from '${own('../domain/error')}'`,
].join('\n')

/** Contract: the whole line is written, although the pipe may be full. */
function writeLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`)
  for (let from = 0; from < bytes.length; )
    try {
      from += writeSync(1, bytes, from)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown
    }
}

process.stdout.write = process.stderr.write.bind(process.stderr)

await servePlugin({
  lines: createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }),
  send: (message) => writeLine(JSON.stringify(message)),
  ...{ clock: systemClock, ids: randomIds },
  modules: {
    tireless: `data:text/javascript,${encodeURIComponent(API)}`,
    zod: import.meta.resolve('zod'),
  },
  unpack(files) {
    const root = mkdtempSync('/tmp/plugin-')
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), bytes)
    }
    return root
  },
})
process.exit(0)
