/** The processes on a shared store, for people. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { sayInstant } from './times.ts'

type Status = CommandOutput<'status'>

const TEXTS = {
  en: {
    leads: 'leader',
    load: (running: number, slots: number) => `${running} of ${slots} slots busy`,
    since: (at: string) => `since ${at}`,
    late: 'no sign of life; others will take over its work',
    here: 'this process',
    comma: ', ',
  },
  zh: {
    leads: '主进程',
    load: (running: number, slots: number) => `${slots} 个位置，占用 ${running} 个`,
    since: (at: string) => `自 ${at}`,
    late: '没有响应，任务将由其他进程接手',
    here: '本进程',
    comma: '，',
  },
} as const

/** Contract: one line per process; none if the store belongs to one home. */
export function workerLines({ workers }: Status): readonly string[] {
  const texts = TEXTS[terminalLanguage()]
  return workers.flatMap(({ name, role, leads, late, here, running, slots, since, version }) => {
    if (role === null) return []
    const details = [
      `--role ${role}`,
      ...(leads ? [texts.leads] : []),
      ...(slots !== null && slots > 0 ? [texts.load(running, slots)] : []),
      texts.since(sayInstant(since)),
      ...(version === null ? [] : [version]),
      ...(here ? [texts.here] : []),
      ...(late ? [style('red', texts.late)] : []),
    ]
    return [`${name}: ${details.join(texts.comma)}`]
  })
}
