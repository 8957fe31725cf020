/** create_file: a whole new file, or a whole new text for a file that the session knows. Safe to run again. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { OWN_WORDS } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import { spelled } from './file-path.ts'
import { failed, knowing, told } from './result.ts'

const args = z.strictObject({
  path: z.string().describe('The file; missing folders are made.'),
  content: z.string().describe('The whole text.'),
})

export const createFile = defineTool<z.infer<typeof args>>({
  name: 'create_file',
  description: 'Writes a new text file. An existing one is replaced only after you have viewed it.',
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'idempotent', reach: 'workspace' }),
  gives: () => OWN_WORDS,
  run: ({ path, content }, { env, ops, seen }) =>
    told(async () => {
      const current = await ops('file').read(path)
      const name = spelled(env, path)
      const size = `${Buffer.byteLength(content)} bytes`
      // Looked at before anything else: the same call again, after a crash, finds its own work.
      if (current?.sha === createHash('sha256').update(content).digest('hex'))
        return knowing(`${name} has this content already (${size})`, name, current.sha)
      if (current && seen.get(name) !== current.sha) return failed(unseen(name, seen.has(name)))
      const { sha } = await ops('file').write(path, content, current?.sha ?? null)
      return knowing(`${current ? 'replaced' : 'created'} ${name} (${size})`, name, sha)
    }),
})

function unseen(name: string, known: boolean): string {
  const why = known ? 'has changed since you last saw it' : 'exists and you have not seen it'
  return `nothing was written: ${name} ${why}; view it first`
}
