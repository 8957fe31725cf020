/** Says why a run did what it did, and what changed in a file. Pure. */

import type { Language } from '../domain/language.ts'
import { shortId } from '../domain/short-id.ts'
import { describeRunLine } from './describe-work.ts'
import type { ExplainedCall, ExplainedRun, ExplainedStep } from './explain-run.ts'
import type { FileHistory } from './file-history.ts'
import type { Period } from './period.ts'
import { sayInstantIn, sayPeriod, type Voice } from './say-time.ts'

interface Texts {
  readonly started: string
  step(turn: number): string
  earlier(count: number): string
  readonly said: string
  readonly called: string
  readonly failure: string
  readonly approval: string
  readonly answered: string
  readonly policy: string
  readonly error: string
  readonly noSteps: string
  never(path: string, when: string): string
  readonly ever: string
  history(path: string, when: string): string
  wrote(when: string, agent: string, title: string, details: string): string
  readonly noDiff: string
  leftOut(count: number): string
  readonly cut: string
}

/** What starts runs, in words. */
export const STARTERS: Readonly<Record<Language, Readonly<Record<ExplainedRun['started_by'], string>>>> = {
  en: {
    ...{ cycle: 'a cycle of the kernel', schedule: 'a schedule', run: 'another run' },
    ...{ person: 'a person', model: 'a model' },
  },
  zh: {
    ...{ cycle: '内核的一个周期', schedule: '日程', run: '另一个任务' },
    ...{ person: '有人交代的任务', model: '模型交代的任务' },
  },
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    started: 'Started by ',
    step: (turn) => `Step ${turn}`,
    earlier: (count) => `(${count} earlier steps are left out here)`,
    said: 'the model said',
    called: 'called',
    failure: 'a failure',
    approval: 'Approval',
    answered: 'answer',
    policy: 'The policy',
    error: 'It ended with the error: ',
    noSteps: 'It has not begun.',
    never: (path, when) => `No run wrote ${path} (${when}).`,
    ever: 'in all the runs that are kept',
    history: (path, when) => `${path} (${when}):`,
    wrote: (when, agent, title, details) => `- ${when} ${agent}: ${title} (${details})`,
    noDiff: 'no snapshot to compare',
    leftOut: (count) => `… and ${count} more, which are left out here.`,
    cut: 'Only the newest runs were searched; there may be more.',
  },
  zh: {
    started: '起因：',
    step: (turn) => `第 ${turn} 步`,
    earlier: (count) => `（之前的 ${count} 步这里没有列出）`,
    said: '模型说',
    called: '调用',
    failure: '失败',
    approval: '批准',
    answered: '答复',
    policy: '策略',
    error: '结束时的错误：',
    noSteps: '它还没有开始。',
    never: (path, when) => `没有任务写过 ${path}（${when}）。`,
    ever: '在保留的全部任务里',
    history: (path, when) => `${path}（${when}）：`,
    wrote: (when, agent, title, details) => `- ${when} ${agent}：${title}（${details}）`,
    noDiff: '没有可比较的快照',
    leftOut: (count) => `……还有 ${count} 次，这里没有列出。`,
    cut: '只查了最新的任务，可能还有更多。',
  },
}

export function describeExplainedRun(explained: ExplainedRun, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { run, started_by, steps, left_out, approvals, policy, error } = explained
  return [
    describeRunLine(run, voice, false),
    `${texts.started}${STARTERS[voice.language][started_by]}${voice.language === 'zh' ? '。' : '.'}`,
    ...(left_out > 0 ? [texts.earlier(left_out)] : []),
    ...(steps.length === 0 ? [texts.noSteps] : steps.flatMap((step) => describeStep(step, texts))),
    ...approvals.map(
      ({ id, tool, status, reason, answer_reason }) =>
        `${texts.approval} ${shortId(id)}: ${tool}: ${status} (${reason})` +
        (answer_reason === null ? '' : `; ${texts.answered}: ${answer_reason}`),
    ),
    ...policy.map(({ tool, ruling, reason }) => `${texts.policy}: ${tool}: ${ruling} (${reason})`),
    ...(error === null ? [] : [`${texts.error}${error}`]),
  ].join('\n')
}

function describeStep({ turn, words, calls, failures }: ExplainedStep, texts: Texts): readonly string[] {
  const parts = [
    ...(words === '' ? [] : [`${texts.said} “${words}”`]),
    ...calls.map((call) => describeCall(call, texts)),
    ...failures.map((failure) => `${texts.failure}: ${failure}`),
  ]
  return parts.length === 0 ? [] : [`${texts.step(turn)}: ${parts.join('; ')}`]
}

/** Of a call that worked, only its arguments say why. */
function describeCall({ tool, args, status, result }: ExplainedCall, { called }: Texts): string {
  const came = status === 'ok' ? status : `${status}: ${result.replaceAll(/\s+/g, ' ')}`
  return `${called} ${tool} ${args} → ${came}`
}

export function describeFileHistory(history: FileHistory, period: Period | undefined, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const when = period ? sayPeriod(period, voice) : texts.ever
  const { path, writes, left_out, is_cut } = history
  if (writes.length === 0) return [texts.never(path, when), ...(is_cut ? [texts.cut] : [])].join('\n')
  const lines = writes.flatMap(({ run, path: written, at, tools, diff }) => {
    const details = [written, tools.join(', '), shortId(run.run_id)].join(', ')
    const shown =
      diff === null
        ? `  ${texts.noDiff}`
        : diff
            .split('\n')
            .map((line) => `  ${line}`)
            .join('\n')
    return [texts.wrote(sayInstantIn(at, voice), run.agent_id, run.title, details), ...(shown.trim() ? [shown] : [])]
  })
  return [
    texts.history(path, when),
    ...lines,
    ...(left_out > 0 ? [texts.leftOut(left_out)] : []),
    ...(is_cut ? [texts.cut] : []),
  ].join('\n')
}
