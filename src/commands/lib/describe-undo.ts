/** An undo in words, in both languages: what goes back, and what stays. */

import type { Language } from '../../domain/language.ts'
import { shortId } from '../../domain/short-id.ts'
import type { UndoOutput } from '../undo.ts'

const TEXTS = {
  en: {
    planned: (target: string) => `To undo ${target}:`,
    done: (target: string, id: string) => `Undone: ${target}. To take this back: tireless undo ${id}`,
    nothing: (target: string) => `There is nothing to undo in ${target}.`,
    runs: (n: number) => `${n} ${n === 1 ? 'run' : 'runs'}:`,
    restored: 'restored',
    removed: 'removed',
    changed_back: 'changed back',
    repository: 'repository taken back',
    document: (name: string, versions: string) => `${name}: version ${versions} taken back`,
    known: 'known again',
    ended: 'no longer known',
    cancelled: 'not started, cancelled',
    stays: 'Cannot be undone:',
    kinds: {
      ...{ message: 'message sent', reply: 'answer sent', outside: 'reached outside', forgotten: 'forgotten for good' },
      ...{ cancelled: 'stays cancelled', no_snapshots: 'its files have no snapshots in this home' },
    },
    omissions: {
      ...{ dependencies: 'installed packages stay', git_file: 'its repository is elsewhere: commits stay' },
      git_too_large: 'repository too large: commits stay',
    },
    more: (n: number) => `… ${n} more`,
  },
  zh: {
    planned: (target: string) => `撤销 ${target}：`,
    done: (target: string, id: string) => `已撤销：${target}。要恢复：tireless undo ${id}`,
    nothing: (target: string) => `${target} 没有可撤销的内容。`,
    runs: (n: number) => `${n} 次运行：`,
    restored: '恢复',
    removed: '删除',
    changed_back: '改回',
    repository: '仓库恢复',
    document: (name: string, versions: string) => `${name}：收回版本 ${versions}`,
    known: '重新记住',
    ended: '不再记住',
    cancelled: '尚未开始，已取消',
    stays: '无法撤销：',
    kinds: {
      ...{ message: '已发出的消息', reply: '已发出的回答', outside: '已影响外部', forgotten: '已彻底遗忘' },
      ...{ cancelled: '仍为已取消', no_snapshots: '其文件在本主目录没有快照' },
    },
    omissions: {
      ...{ dependencies: '已安装的软件包不变', git_file: '仓库在别处：提交不变' },
      git_too_large: '仓库过大：提交不变',
    },
    more: (n: number) => `… 另有 ${n} 项`,
  },
} as const

const MAX_LINES = 12

/** Contract: pure. */
export function describeUndo(undo: UndoOutput, language: Language): string {
  const texts = TEXTS[language]
  const limited = (lines: readonly string[]): readonly string[] =>
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `    ${texts.more(lines.length - MAX_LINES)}`] : lines
  const heading = undo.status === 'done' ? texts.done(undo.target, undo.id ?? '') : texts[undo.status](undo.target)
  const files = undo.workspaces.flatMap((space) => [
    `  ${space.workspace}`,
    ...limited([
      ...space.restored.map((path) => `    ${texts.restored}: ${path}`),
      ...space.removed.map((path) => `    ${texts.removed}: ${path}`),
      ...space.changed_back.map((path) => `    ${texts.changed_back}: ${path}`),
      ...space.repositories.map((path) => `    ${texts.repository}: ${path}`),
    ]),
  ])
  const facts = undo.facts.map(({ key, becomes }) => `  ${becomes === 'known' ? texts.known : texts.ended}: ${key}`)
  const stays = [
    ...undo.not_undone.map(({ kind, run_id, what }) => `  ${texts.kinds[kind]} (${shortId(run_id)}): ${oneLine(what)}`),
    ...undo.not_covered.map(({ path, why }) => `  ${path}: ${texts.omissions[why]}`),
  ]
  return [
    heading,
    ...(undo.runs.length === 0 ? [] : [`  ${texts.runs(undo.runs.length)}`]),
    ...limited(undo.runs.map(({ run_id, agent_id, title }) => `    ${shortId(run_id)} ${agent_id}: ${oneLine(title)}`)),
    ...files,
    ...undo.documents.map(({ name, versions }) => `  ${texts.document(name, versions.join(', '))}`),
    ...limited(facts),
    ...undo.cancelled.map((run) => `  ${texts.cancelled}: ${shortId(run)}`),
    ...(stays.length === 0 ? [] : [texts.stays, ...limited(stays)]),
  ].join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 120)
