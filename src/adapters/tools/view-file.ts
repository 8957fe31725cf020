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
/** The engine cuts the middle out of longer results. */
const MAX_CHARACTERS = 49_000

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
      const { text, lastWhole } = excerpt(lines, first, last)
      const isWhole = first === 1 && lastWhole === lines.length
      const part = isWhole ? undefined : { from: first, to: lastWhole, of: lines.length }
      return fileResult(text, normalizePath(context.env, path), file.sha, part)
    }),
})

/** Splits a text into lines that keep their line breaks, so that the model sees the exact text. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

interface Excerpt {
  readonly text: string
  /** The last line that is shown as a whole. */
  readonly lastWhole: number
}

function excerpt(lines: readonly string[], first: number, last: number): Excerpt {
  if (lines.length === 0) return { text: '[the file is empty]', lastWhole: 0 }
  let bytes = 0
  let text = ''
  for (let number = first; number <= last; number += 1) {
    const line = lines[number - 1] ?? ''
    bytes += Buffer.byteLength(line)
    if (bytes > MAX_BYTES || text.length + line.length > MAX_CHARACTERS) {
      const shown = text === '' ? cutLine(line, number, lines.length) : `${text}${cutNote(number, lines.length)}`
      return { text: shown, lastWhole: number - 1 }
    }
    text += line
  }
  return { text, lastWhole: last }
}

function cutNote(next: number, of: number): string {
  return `[cut here, before line ${next} of ${of}; to continue, view it with from: ${next}]`
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
