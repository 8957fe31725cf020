/** list_files: lists the entries of a folder, a few levels deep. */

import { z } from 'zod'
import { LABEL_OF_WORKSPACE } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { FileEntry } from '../../ports/env.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { escapeControls } from './file-path.ts'
import { asToolResult } from './tool-result.ts'

const MOST_ENTRIES = 500
const MOST_CHARACTERS = 64 * 1024
const MORE = '[there are more entries; list a subfolder, or use a smaller depth]'

const args = z.strictObject({
  path: z.string().default('.'),
  depth: z.number().int().min(1).max(20).default(2),
})

export const listFiles = defineToolWithText<z.infer<typeof args>>({
  name: 'list_files',
  loadText: () => loadToolText('list_files'),
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => LABEL_OF_WORKSPACE,
  run: ({ path, depth }, { ops }) =>
    asToolResult(async () => {
      const { entries, more } = await ops('file').list(path, depth, MOST_ENTRIES)
      return { status: 'ok', content: entries.length === 0 ? '[the folder is empty]' : formatEntries(entries, more) }
    }),
})

function formatEntries(entries: readonly FileEntry[], more: boolean): string {
  let text = ''
  for (const { path, bytes } of entries) {
    const line = path.endsWith('/') ? `${escapeControls(path)}\n` : `${escapeControls(path)}  ${bytes} bytes\n`
    if (text.length + line.length > MOST_CHARACTERS) return text + MORE
    text += line
  }
  return more ? text + MORE : text
}
