/** Shows a backup that was made or restored, and what it lacks. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { formatBytes } from '../../domain/byte-size.ts'
import { describeNotIncluded, isToBring, type NotIncluded } from '../../domain/not-included.ts'
import { escapeToOneLine } from '../terminal.ts'
import { terminalLanguage } from './language.ts'

/** The JSON and the backup have all; a screen has not. */
const MAX_LISTED = 20

const TEXTS = {
  en: {
    made: (files: number, size: string, dir: string) => `Copied ${files} files (${size}) to ${dir}.`,
    keptByAgents: (size: string) => `With what agents keep in their ~, and what was taken from them: ${size}.`,
    nothingMissing: 'Nothing of the home is missing in it.',
    missing: 'Not in the backup:',
    restored: (files: number, from: string, at: string) => `Restored ${files} files from ${from}, made at ${at}.`,
    before: (folder: string) => `The home as it was before is in ${folder}.`,
    toBring: 'The backup lacks these; bring what the home is to use again:',
    more: (n: number, dir: string) => `… and ${n} more: see not_included in ${dir}/manifest.json`,
  },
  zh: {
    keptByAgents: (size: string) => `包括智能体保存在 ~ 中的内容，以及从它们那里移走的文件：${size}。`,
    made: (files: number, size: string, dir: string) => `已把 ${files} 个文件（${size}）复制到 ${dir}。`,
    nothingMissing: '目录的内容全部在备份中。',
    missing: '不在备份中：',
    restored: (files: number, from: string, at: string) => `已从 ${from}（${at} 的备份）恢复 ${files} 个文件。`,
    before: (folder: string) => `之前的目录内容在 ${folder}。`,
    toBring: '备份中没有以下内容；如果还要使用，请自行带来：',
    more: (n: number, dir: string) => `… 另有 ${n} 项：见 ${dir}/manifest.json 的 not_included`,
  },
} as const

export function renderBackup(output: CommandOutput<'backup'>): string {
  const { dir, files, bytes, parts, not_included, notes } = output
  const kept = parts.find(({ name }) => name === 'sandbox')
  const texts = TEXTS[terminalLanguage()]
  return [
    texts.made(files, formatBytes(bytes), dir),
    ...(kept === undefined ? [] : [texts.keptByAgents(formatBytes(kept.bytes))]),
    ...(not_included.length === 0 ? [texts.nothingMissing] : [texts.missing, ...listed(not_included, dir)]),
    ...notes,
  ].join('\n')
}

export function renderRestored(output: CommandOutput<'restore'>): string {
  const { from, created_at, files, before, notes, not_included } = output
  const texts = TEXTS[terminalLanguage()]
  const toBring = not_included.filter(isToBring)
  return [
    texts.restored(files, from, created_at),
    ...(before === null ? [] : [texts.before(before)]),
    ...notes,
    ...(toBring.length === 0 ? [] : [texts.toBring, ...listed(toBring, from)]),
  ].join('\n')
}

function listed(all: readonly NotIncluded[], dir: string): readonly string[] {
  const language = terminalLanguage()
  const lines = all.slice(0, MAX_LISTED).map((one) => `  ${escapeToOneLine(describeNotIncluded(one, language))}`)
  const more = all.length - lines.length
  return more === 0 ? lines : [...lines, `  ${TEXTS[language].more(more, dir)}`]
}
