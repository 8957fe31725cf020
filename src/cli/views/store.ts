/** Shows what moving the records of a home did. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'

const TEXTS = {
  en: {
    moved: (records: number, to: string) => `Moved ${records} records to ${to}, and compared each with its original.`,
    check: (records: number, to: string) =>
      `${records} records can be moved to ${to}: they were copied and compared, then the copy was taken back.`,
    none: (to: string) => `This home uses ${to} already.`,
    kept: (kept: string) => `The records from before are kept, and not used any more: ${kept}`,
  },
  zh: {
    moved: (records: number, to: string) => `已将 ${records} 条记录移到 ${to}，并逐条核对。`,
    check: (records: number, to: string) => `${records} 条记录可以移到 ${to}：已复制并逐条核对，然后撤销了副本。`,
    none: (to: string) => `此目录已经使用 ${to}。`,
    kept: (kept: string) => `原来的记录仍然保留，但不再使用：${kept}`,
  },
} as const

export function renderStoreMove({ action, to, records, tables, kept, notes }: CommandOutput<'store move'>): string {
  const texts = TEXTS[terminalLanguage()]
  const filled = tables.filter(({ rows }) => rows > 0)
  return [
    action === 'none' ? texts.none(to) : texts[action](records, to),
    ...(filled.length === 0 ? [] : [formatTable(filled, ['table', 'rows', 'sha256'])]),
    ...(kept === null ? [] : [texts.kept(kept)]),
    ...notes,
  ].join('\n')
}
