/**
 * Tools that read what happened from the records: runs, cycles, spending, open matters, files. They change nothing and
 * reach nothing. A result has the lowest label of the sessions whose texts it shows (I12).
 */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { CLEAN_LABEL, LABEL_OF_OWN_OUTPUT, type Label } from '../../domain/label.ts'
import { LANGUAGES } from '../../domain/language.ts'
import { SPEND_GROUPS } from '../../domain/money.ts'
import type { PastTool } from '../../domain/past-tools.ts'
import { shortId } from '../../domain/short-id.ts'
import { truncateText } from '../../domain/truncate.ts'
import { findPastWork } from '../../past/answer-by-rule.ts'
import { readAgentsNow } from '../../past/answer-now.ts'
import { describeAgents } from '../../past/describe-agents.ts'
import { describeMatters, describeUpcoming } from '../../past/describe-matters.ts'
import { describeExplainedRun, describeFileHistory } from '../../past/describe-run.ts'
import { describeTodos } from '../../past/describe-todos.ts'
import { describeSpend, describeWork } from '../../past/describe-work.ts'
import { explainRun } from '../../past/explain-run.ts'
import { findFileHistory } from '../../past/file-history.ts'
import { findOpenMatters } from '../../past/open-matters.ts'
import { lowestOf } from '../../past/past-runs.ts'
import type { PastSources } from '../../past/past-sources.ts'
import { findPastSpend } from '../../past/past-spend.ts'
import { findPastTodos, TODO_CHOICES } from '../../past/past-todos.ts'
import type { Period } from '../../past/period.ts'
import { type PeriodArguments, resolvePeriod } from '../../past/period-arguments.ts'
import type { Voice } from '../../past/say-time.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { AnyTool, Tool } from '../../ports/tool.ts'
import { loadToolText, type ToolText } from '../../prompts/load-prompt.ts'
import { toolError } from './tool-result.ts'

export function pastTools(sources: PastSources): AnyTool[] {
  return [
    ...[pastWork(sources), pastSpend(sources), pastTodos(sources), openMatters(sources), explainRunTool(sources)],
    ...[fileHistory(sources), listAgents(sources)],
  ]
}

const MAX_CONTENT = 12_000

const language = z.enum(LANGUAGES).default('en')
const periodArgs = {
  when: z.string().trim().min(1).max(200).optional(),
  from: z.string().trim().min(1).optional(),
  to: z.string().trim().min(1).optional(),
}

type Reader<Args> = Pick<Tool<Args>, 'args' | 'run'> & {
  readonly name: PastTool
  readonly loadText: () => ToolText
}

/** The members that all these tools share. */
const readOnly = <Args>(tool: Reader<Args>): AnyTool =>
  defineToolWithText<Args>({
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    ...tool,
  })

const result = (text: string, label: Label): CallResult => ({
  status: 'ok',
  content: truncateText(text, MAX_CONTENT, { mark: '\n… (the rest is left out; ask for less, or a shorter period)' }),
  facts: { label: { ...label } },
})

const voiceOf = (sources: PastSources, wanted: Voice['language']): Voice => ({
  ...{ language: wanted, clock: sources.clock(), now: sources.now() },
})

/** Contract: runs `work` with the period of the arguments; `otherwise`: the words for it if they name none. */
async function inPeriod(
  sources: PastSources,
  args: PeriodArguments,
  otherwise: string,
  work: (period: Period) => Promise<CallResult>,
): Promise<CallResult> {
  const resolve = (given: PeriodArguments) => resolvePeriod(given, sources.now(), sources.clock())
  const asked = resolve(args)
  if ('problem' in asked) return toolError(asked.problem)
  const usual = resolve({ when: otherwise })
  const period = asked.period ?? ('period' in usual ? usual.period : undefined)
  return period ? work(period) : toolError('no period')
}

const workArgs = z.strictObject({
  ...periodArgs,
  agent: z.string().trim().min(1).optional(),
  text: z.string().trim().min(1).optional(),
  limit: z.int().min(1).max(100).default(20),
  language,
})

const pastWork = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof workArgs>>({
    name: 'past_work',
    loadText: () => loadToolText('past_work'),
    args: workArgs,
    run: ({ agent, text, limit, language: wanted, ...when }) =>
      inPeriod(sources, when, 'today', async (period) => {
        const work = await findPastWork(sources, period, { agent, text, limit })
        return result(describeWork(work, voiceOf(sources, wanted)), lowestOf(work.runs))
      }),
  })

const spendArgs = z.strictObject({ ...periodArgs, by: z.enum(SPEND_GROUPS).default('agent'), language })

const pastSpend = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof spendArgs>>({
    name: 'past_spend',
    loadText: () => loadToolText('past_spend'),
    args: spendArgs,
    run: ({ by, language: wanted, ...when }) =>
      inPeriod(sources, when, 'today', async (period) => {
        const spend = await findPastSpend(sources, period, by)
        return result(describeSpend(spend, period, voiceOf(sources, wanted)), CLEAN_LABEL)
      }),
  })

const todosArgs = z.strictObject({
  ...periodArgs,
  status: z.enum(TODO_CHOICES).default('all'),
  text: z.string().trim().min(1).optional(),
  language,
})

const pastTodos = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof todosArgs>>({
    name: 'past_todos',
    loadText: () => loadToolText('past_todos'),
    args: todosArgs,
    async run({ status, text, language: wanted, ...when }) {
      const asked = resolvePeriod(when, sources.now(), sources.clock())
      if ('problem' in asked) return toolError(asked.problem)
      const found = await findPastTodos(sources, { choice: status, words: text, place: text, period: asked.period })
      return result(describeTodos(found, asked.period, voiceOf(sources, wanted)), lowestOf(found.plans))
    },
  })

const mattersArgs = z.strictObject({ language })

const openMatters = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof mattersArgs>>({
    name: 'open_matters',
    loadText: () => loadToolText('open_matters'),
    args: mattersArgs,
    async run({ language: wanted }) {
      const open = await findOpenMatters(sources)
      const voice = voiceOf(sources, wanted)
      return result(`${describeMatters(open, voice)}\n${describeUpcoming(open, voice)}`, lowestOf(open.matters))
    },
  })

const runArgs = z.strictObject({ run: z.string().trim().min(4), language })

const explainRunTool = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof runArgs>>({
    name: 'explain_run',
    loadText: () => loadToolText('explain_run'),
    args: runArgs,
    async run({ run, language: wanted }) {
      const id = await findRunId(sources, run)
      const explained = id === undefined ? undefined : await explainRun(sources, id)
      if (!explained) return toolError(`no run ${run}; past_work lists runs with their ids`)
      return result(describeExplainedRun(explained, voiceOf(sources, wanted)), explained.run.label)
    },
  })

/** Of a shortened id, the newest run that it fits. */
async function findRunId({ store }: PastSources, id: string): Promise<string | undefined> {
  if (await store.dispatch(id)) return id
  const newest = await store.dispatches({ limit: 2000 })
  return newest.find(({ dispatch_id }) => shortId(dispatch_id).startsWith(id) || dispatch_id.endsWith(id))?.dispatch_id
}

const fileArgs = z.strictObject({ path: z.string().trim().min(1), ...periodArgs, language })

const fileHistory = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof fileArgs>>({
    name: 'file_history',
    loadText: () => loadToolText('file_history'),
    args: fileArgs,
    async run({ path, language: wanted, ...when }) {
      const asked = resolvePeriod(when, sources.now(), sources.clock())
      if ('problem' in asked) return toolError(asked.problem)
      const history = await findFileHistory(sources, path, { period: asked.period })
      const label = lowestOf(history.writes.map(({ run }) => run))
      return result(describeFileHistory(history, asked.period, voiceOf(sources, wanted)), label)
    },
  })

const agentsArgs = z.strictObject({ language })

const listAgents = (sources: PastSources): AnyTool =>
  readOnly<z.infer<typeof agentsArgs>>({
    name: 'list_agents',
    loadText: () => loadToolText('list_agents'),
    args: agentsArgs,
    run: async ({ language: wanted }) =>
      result(describeAgents(await readAgentsNow(sources), voiceOf(sources, wanted)), CLEAN_LABEL),
  })
