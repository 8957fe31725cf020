/** An undo in words, in both languages: what goes back, and what stays. */

import type { Language } from '../../domain/language.ts'
import { shortId } from '../../domain/short-id.ts'
import type { UndoOutput } from '../undo.ts'

const TEXTS = {
  en: {
    planned: (target: string) => `To undo ${target}:`,
    finish: (target: string) => `To finish the half-done undo of ${target}:`,
    done: (target: string, id: string) => `Undone: ${target}. To take this back: tireless undo ${id}`,
    given_up: (target: string, id: string) =>
      `Gave up the undo of ${target}; the rest stays as it is. To take back what it did: tireless undo ${id}`,
    nothing: (target: string) => `There is nothing to undo in ${target}.`,
    impossible: (target: string) => `Nothing of ${target} can be undone:`,
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
    kept: 'Stays as it is:',
    kept_why: {
      ...{ changed_since: 'changed since', failed: 'could not be changed', given_up: 'given up' },
      content_lost: 'the content of before is missing or damaged',
    },
    uncertain: 'Not certain whose work, because it changed between a crash and the restart:',
    does: { stays: 'stays', goes_back: 'goes back' },
    with_uncertain: (target: string) => `To take back what stays, too: tireless undo ${target} --uncertain`,
    unfinished: 'Half done:',
    unfinished_undo: (id: string, target: string) =>
      `undo ${id} of ${target}; finish it: tireless undo ${id} --yes; or give it up: tireless undo ${id} --give-up`,
    kinds: {
      ...{ message: 'message sent', reply: 'answer sent', outside: 'reached outside', forgotten: 'forgotten for good' },
      ...{ cancelled: 'stays cancelled', no_snapshots: 'its files have no snapshots in this home' },
    },
    omissions: {
      dependencies: 'installed packages stay',
      git_file: 'its repository is elsewhere: commits stay',
      git_too_large: 'repository too large: commits stay',
      too_large: 'too large for snapshots: stays as it is',
      unreadable: 'you may not read it: stays as it is',
      lost: 'its stored content was lost: stays as it is',
    },
    more: (n: number) => `… ${n} more`,
  },
  zh: {
    planned: (target: string) => `撤销 ${target}：`,
    finish: (target: string) => `要完成 ${target} 的未完成的撤销：`,
    done: (target: string, id: string) => `已撤销：${target}。要恢复：tireless undo ${id}`,
    given_up: (target: string, id: string) =>
      `已放弃 ${target} 的撤销；其余保持不变。要收回它已做的：tireless undo ${id}`,
    nothing: (target: string) => `${target} 没有可撤销的内容。`,
    impossible: (target: string) => `${target} 的内容都无法撤销：`,
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
    kept: '保持不变：',
    kept_why: {
      ...{ changed_since: '此后有改动', failed: '无法改动', given_up: '已放弃' },
      content_lost: '原来的内容丢失或损坏',
    },
    uncertain: '不确定是谁的改动，因为发生在崩溃与重新启动之间：',
    does: { stays: '保持不变', goes_back: '恢复' },
    with_uncertain: (target: string) => `要连同保持不变的一起撤销：tireless undo ${target} --uncertain`,
    unfinished: '未完成：',
    unfinished_undo: (id: string, target: string) =>
      `${target} 的撤销 ${id}；完成它：tireless undo ${id} --yes；或放弃它：tireless undo ${id} --give-up`,
    kinds: {
      ...{ message: '已发出的消息', reply: '已发出的回答', outside: '已影响外部', forgotten: '已彻底遗忘' },
      ...{ cancelled: '仍为已取消', no_snapshots: '其文件在本主目录没有快照' },
    },
    omissions: {
      dependencies: '已安装的软件包不变',
      git_file: '仓库在别处：提交不变',
      git_too_large: '仓库过大：提交不变',
      too_large: '过大，没有快照：保持不变',
      unreadable: '您无权读取：保持不变',
      lost: '保存的内容已丢失：保持不变',
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
  const kept = undo.kept.map(({ path, why, error }) => `  ${path}: ${error ?? texts.kept_why[why]}`)
  const uncertain = undo.uncertain.map(({ path, does }) => `  ${texts.does[does]}: ${path}`)
  const canTakeMore = undo.status !== 'done' && undo.uncertain.some(({ does }) => does === 'stays')
  const isImpossible = undo.status === 'nothing' && stays.length + kept.length + uncertain.length > 0
  const part = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [title, ...limited(lines)]
  return [
    isImpossible ? texts.impossible(undo.target) : headingOf(undo, language),
    ...(undo.runs.length === 0 ? [] : [`  ${texts.runs(undo.runs.length)}`]),
    ...limited(undo.runs.map(({ run_id, agent_id, title }) => `    ${shortId(run_id)} ${agent_id}: ${oneLine(title)}`)),
    ...files,
    ...undo.documents.map(({ name, versions }) => `  ${texts.document(name, versions.join(', '))}`),
    ...limited(facts),
    ...undo.cancelled.map((run) => `  ${texts.cancelled}: ${shortId(run)}`),
    ...(isImpossible ? limited(stays) : part(texts.stays, stays)),
    ...part(texts.kept, kept),
    ...part(texts.uncertain, uncertain),
    ...(canTakeMore ? [texts.with_uncertain(undo.target)] : []),
    ...part(
      texts.unfinished,
      undo.unfinished.map(({ id, target }) => `  ${texts.unfinished_undo(id, target)}`),
    ),
  ].join('\n')
}

function headingOf({ status, finishes, target, id }: UndoOutput, language: Language): string {
  const texts = TEXTS[language]
  if (status === 'planned') return finishes === null ? texts.planned(target) : texts.finish(target)
  return status === 'nothing' ? texts.nothing(target) : texts[status](target, id ?? '')
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 120)
