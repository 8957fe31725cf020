/** search_files: finds the lines of workspace files that match a pattern. Files, bytes, lines and time are limited. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { LABEL_OF_WORKSPACE } from '../../domain/label.ts'
import { truncateText } from '../../domain/truncate.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { FileOps } from '../../ports/env.ts'
import type { ToolContext } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { escapeControls, normalizePath } from './file-path.ts'
import { createMatcher, type Hit } from './search/matcher.ts'
import { asToolResult } from './tool-result.ts'

const MOST_FILES = 5000
const MOST_BYTES = 64 * 1024 * 1024
const MOST_HITS = 200
const MOST_OF_A_LINE = 300
const MOST_LEVELS = 64
const WITHIN_MS = 5_000

const args = z.strictObject({
  pattern: z.string().min(1).max(1000),
  path: z.string().default('.'),
})

export const searchFiles = defineToolWithText<z.infer<typeof args>>({
  name: 'search_files',
  loadText: () => loadToolText('search_files'),
  args,
  needs: ['file'],
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => LABEL_OF_WORKSPACE,
  run: ({ pattern, path }, context) =>
    asToolResult(async () => {
      const { paths, more } = await listPaths(context, path)
      const found = await findHits(paths, pattern, context)
      const notes = [
        ...(more || found.unread ? ['not all files were searched; search a subfolder'] : []),
        ...(found.hits.length >= MOST_HITS ? [`only the first ${MOST_HITS} lines are shown`] : []),
        ...(found.literal ? ['the pattern is not a valid regular expression, so it was used as plain text'] : []),
      ]
      const lines = found.hits.map(({ path: at, line, text }) => `${escapeControls(at)}:${line}: ${clipLine(text)}`)
      if (lines.length === 0) lines.push(`no line matches in ${found.files} files`)
      return { status: 'ok', content: [...lines, ...notes.map((note) => `[${note}]`)].join('\n') }
    }),
})

async function listPaths(
  { env, ops }: ToolContext,
  path: string,
): Promise<{ paths: readonly string[]; more: boolean }> {
  // If the path is a text file, only that file is searched. Otherwise it must be a folder: `list` throws if it is not.
  if ((await readText(ops('file'), path)) !== undefined) return { paths: [normalizePath(env, path)], more: false }
  const { entries, more } = await ops('file').list(path, MOST_LEVELS, MOST_FILES)
  return { paths: entries.map((entry) => entry.path).filter((name) => !name.endsWith('/')), more }
}

interface Found {
  readonly hits: readonly (Hit & { readonly path: string })[]
  readonly files: number
  readonly unread: boolean
  readonly literal: boolean
}

async function findHits(
  paths: readonly string[],
  pattern: string,
  { ops, clock, signal }: ToolContext,
): Promise<Found> {
  const over = new AbortController()
  const matcher = createMatcher(pattern, { late: clock.sleep(WITHIN_MS, over.signal), signal })
  const hits: (Hit & { readonly path: string })[] = []
  let [files, bytes] = [0, 0]
  try {
    for (const path of paths) {
      if (hits.length >= MOST_HITS || bytes > MOST_BYTES)
        return { hits, files, unread: true, literal: matcher.isLiteral }
      const text = await readText(ops('file'), path)
      if (text === undefined) continue
      files += 1
      bytes += text.length
      const found = await matcher.hits(text, MOST_HITS - hits.length)
      hits.push(...found.map((hit) => ({ ...hit, path })))
    }
    return { hits, files, unread: false, literal: matcher.isLiteral }
  } finally {
    over.abort('over')
    await matcher.close()
  }
}

/** Contract: undefined if the path is not a readable text file: binary, too large, a link, or missing. */
async function readText(file: FileOps, path: string): Promise<string | undefined> {
  try {
    return (await file.read(path))?.text
  } catch (thrown) {
    if (thrown instanceof TirelessError && thrown.code === 'path_refused') return undefined
    throw thrown
  }
}

const clipLine = (text: string): string => truncateText(text, MOST_OF_A_LINE, { mark: ' […]' })
