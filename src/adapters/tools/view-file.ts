/** view_file: shows a text file or some of its lines. Afterwards the session may edit that version of the file. */

import { posix } from 'node:path'
import { z } from 'zod'
import { LABEL_OF_WORKSPACE } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { ToolContext } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { escapeControls, normalizePath } from './file-path.ts'
import { similarNames } from './similar-names.ts'
import { asToolResult, fileResult, toolError } from './tool-result.ts'

const MAX_BYTES = 64 * 1024

const args = z.strictObject({
  path: z.string(),
  from: z.number().int().min(1).optional(),
  to: z.number().int().min(1).optional(),
})

export const viewFile = defineToolWithText<z.infer<typeof args>>({
  name: 'view_file',
  loadText: () => loadToolText('view_file'),
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => LABEL_OF_WORKSPACE,
  run: ({ path, from, to }, context) =>
    asToolResult(async () => {
      const file = await context.ops('file').read(path)
      if (!file) return toolError(await describeMissing(context, path))
      const lines = splitLines(file.text)
      const first = from ?? 1
      const last = Math.min(to ?? lines.length, lines.length)
      if (first > Math.max(last, 1))
        return toolError(`there are no lines ${first} to ${to ?? 'the end'}: the file has ${lines.length} lines`)
      return fileResult(excerpt(lines, first, last), normalizePath(context.env, path), file.sha)
    }),
})

/** Splits a text into lines that keep their line breaks, so that the model sees the exact text. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function excerpt(lines: readonly string[], first: number, last: number): string {
  if (lines.length === 0) return '[the file is empty]'
  let bytes = 0
  let text = ''
  for (let number = first; number <= last; number += 1) {
    const line = lines[number - 1] ?? ''
    bytes += Buffer.byteLength(line)
    if (bytes > MAX_BYTES)
      return text === '' ? cutLine(line, number, lines.length) : `${text}${cutNote(number, lines.length)}`
    text += line
  }
  return text
}

function cutNote(next: number, of: number): string {
  return `[cut here at 64 kB, before line ${next} of ${of}; to continue, view it with from: ${next}]`
}

function cutLine(line: string, number: number, of: number): string {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const start = line.slice(0, Math.floor(MAX_BYTES / 3)).toWellFormed()
  const note = `line ${number} of ${of} is too long and was cut after ${start.length} characters`
  return `${start}\n[${note}; to view the next lines, use from: ${number + 1}]`
}

async function describeMissing({ env, ops }: ToolContext, path: string): Promise<string> {
  const folder = posix.dirname(normalizePath(env, path))
  const what = `there is no file ${JSON.stringify(path)}`
  try {
    const { entries } = await ops('file').list(folder, 1, 1000)
    const names = entries.map((entry) => posix.relative(folder, entry.path) + (entry.path.endsWith('/') ? '/' : ''))
    const near = similarNames(posix.basename(path), names).map(escapeControls)
    return near.length === 0
      ? `${what}; its folder is empty`
      : `${what}; similar names in ${folder}/ are ${near.join(', ')}`
  } catch {
    return `${what} and no folder ${JSON.stringify(folder)}`
  }
}
