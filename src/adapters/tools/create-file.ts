/** create_file: writes a new file, or replaces a file that the session has viewed. Idempotent. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { replacePlaceholders } from '../../domain/placeholder.ts'
import { describeViewed, type ViewedPart } from '../../domain/viewed-files.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { normalizePath } from './file-path.ts'
import { asToolResult, fileResult, toolError } from './tool-result.ts'

const args = z.strictObject({
  path: z.string(),
  content: z.string(),
})

export const createFile = defineToolWithText<z.infer<typeof args>>({
  name: 'create_file',
  loadText: () => loadToolText('create_file'),
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'idempotent', reach: 'workspace' }),
  gives: () => LABEL_OF_OWN_OUTPUT,
  placeholders: {
    file: ({ path }) => path,
    fill: (wanted, textOf) => ({ ...wanted, content: replacePlaceholders(wanted.content, textOf) }),
  },
  run: ({ path, content }, { env, ops, seen, viewedParts }) =>
    asToolResult(async () => {
      const current = await ops('file').read(path)
      const name = normalizePath(env, path)
      const size = `${Buffer.byteLength(content)} bytes`
      // Checked first: a call that is repeated after a crash finds the file that it has already written.
      if (current?.sha === createHash('sha256').update(content).digest('hex'))
        return fileResult(`${name} already has this content (${size})`, name, current.sha)
      if (current && seen.get(name) !== current.sha) return toolError(describeUnseen(name, seen.has(name)))
      const parts = viewedParts?.get(name)
      if (current && parts) return toolError(describePart(name, parts))
      const { sha } = await ops('file').write(path, content, current?.sha ?? null)
      return fileResult(`${current ? 'replaced' : 'created'} ${name} (${size})`, name, sha)
    }),
})

function describeUnseen(name: string, wasSeen: boolean): string {
  const why = wasSeen ? 'has changed since you last viewed it' : 'exists and you have not viewed it'
  return `nothing was written: ${name} ${why}; view it first`
}

function describePart(name: string, parts: readonly ViewedPart[]): string {
  const why = `of ${name} you have viewed only ${describeViewed(parts)}`
  return `nothing was written: ${why}; view the rest first, or change the part with edit_file`
}
