/** The agents: made from a sentence, listed, changed, enabled and disabled, in whichever file describes them. */

import { z } from 'zod'
import type { Watched } from '../domain/agent.ts'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { iso } from '../ports/clock.ts'
import { type ConfigChange, type Context, command } from './command.ts'
import { promptFor, type Sentence, understood, type WrittenSchedule, writtenSchedule } from './sentence.ts'

const scheduleShape = z.union([z.string(), z.object({ every: z.number() }), z.object({ at: z.string() })]).nullable()

const described = z.object({
  agent_id: z.string(),
  enabled: z.boolean(),
  schedule: scheduleShape,
  priority: z.number(),
  source: z.string().describe('the file that describes it'),
  last_status: z.enum(DISPATCH_STATUSES).nullable(),
  last_run_at: z.string().nullable(),
  next_at: z.string().nullable(),
  prompt: z.string(),
})

type Described = z.input<typeof described>

async function describe({ store, kernelId, kernel, roster }: Context, id: string): Promise<Described> {
  const found = roster.all().find(({ agent }) => agent.agent_id === id)
  if (!found) throw new TirelessError('internal', `the agent ${id} was there a moment ago`)
  const { agent_id, enabled, schedule, priority, prompt } = found.agent
  const [last] = await store.recent(kernelId, id, 1)
  const next = kernel.nextFor(id)
  return {
    ...{ agent_id, enabled, priority, prompt, source: found.file },
    schedule: typeof schedule === 'object' && schedule !== null ? { ...schedule } : schedule,
    last_status: last?.status ?? null,
    last_run_at: last?.created_at ?? null,
    next_at: next === undefined ? null : iso(next),
  }
}

export const agentList = command({
  name: 'agent list',
  summary: 'every agent: when it runs, how it went last, where it is described',
  runsIn: 'any_process',
  input: z.object({}),
  output: z.object({ items: z.array(described) }),
  async run(context) {
    return { items: await Promise.all(context.roster.all().map(({ agent }) => describe(context, agent.agent_id))) }
  },
})

const SCHEDULE = 'when: a cron line, "every morning", "30m", an instant; "none": the beats of the kernel'

/** What may be said of one, whether it is new or not. */
const keys = {
  schedule: z.string().min(1).optional().describe(SCHEDULE),
  model: z.string().min(1).optional().describe('provider/model; "none": the default one'),
  watch: z.string().min(1).optional().describe('a file, a folder or a git work tree to look at').meta({ path: true }),
}

export const agentNew = command({
  name: 'agent new',
  summary: 'an agent from a sentence, such as "watch my repo and report every morning"',
  runsIn: 'any_process',
  positional: ['sentence'],
  input: z.object({
    sentence: z.string().regex(/\S/, 'a sentence').describe('what it is to do, and when'),
    id: z.string().min(1).optional().describe('its name; default: from the sentence'),
    ...keys,
    here: z.string().optional().describe('the folder that "my repo" means').meta({ path: true, here: true }),
  }),
  output: described,
  async run(context, { sentence, id, schedule, model, watch, here }, tell) {
    const said = understood(sentence)
    const watched = await watchedBy(context, said, watch, here)
    const agentId = id ?? freeId(context, said.id)
    if (watched === undefined && (said.watches || said.repository))
      tell({
        kind: 'note',
        text: `it is not clear what it should watch, so it watches nothing: agent edit ${agentId} --watch PATH`,
      })
    const when = schedule === undefined ? said.schedule : writtenSchedule(schedule)
    const wanted: Record<string, Json> = {
      ...(when === null ? {} : { schedule: written(when) }),
      ...(watched === undefined ? {} : { watch: [watched] }),
      ...modelKey(context, model),
      workspace: `workspaces/${agentId}`,
      prompt: literal(promptFor(sentence, watched !== undefined)),
    }
    context.roster.add(agentId, wanted)
    context.kernel.refresh()
    return describe(context, agentId)
  },
})

export const agentEdit = command({
  name: 'agent edit',
  summary: 'change an agent; its file keeps its comments, and nothing is written that is not valid',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({
    id: z.string().min(1).describe('the agent'),
    prompt: z.string().regex(/\S/, 'a text').optional().describe('what it is to do'),
    ...keys,
    priority: z.int().optional().describe('higher ones go first'),
    workspace: z.string().min(1).optional().describe('where it works, relative to the home; "none": anew for each run'),
  }),
  output: described,
  async run(context, { id, prompt, schedule, model, watch, priority, workspace }) {
    const when = schedule === undefined ? undefined : writtenSchedule(schedule)
    const changes: ConfigChange[] = [
      ...(prompt === undefined ? [] : [set('prompt', literal(prompt))]),
      ...(when === undefined ? [] : [set('schedule', when === null ? undefined : written(when))]),
      ...(model === undefined ? [] : [set('model', modelKey(context, model).model)]),
      ...(watch === undefined ? [] : [set('watch', [await probeOf(context, watch, true)])]),
      ...(priority === undefined ? [] : [set('priority', priority)]),
      ...(workspace === undefined ? [] : [set('workspace', workspace === 'none' ? undefined : workspace)]),
    ]
    if (changes.length === 0)
      throw new TirelessError('usage', {
        what: 'nothing to change was named',
        expected: 'at least one of --prompt, --schedule, --priority, --model, --watch, --workspace',
        fix: `name one, or edit ${fileOf(context, id)} by hand`,
      })
    return changed(context, id, changes)
  },
})

const one = z.object({ id: z.string().min(1).describe('the agent') })

export const agentEnable = command({
  name: 'agent enable',
  summary: 'let an agent run',
  runsIn: 'any_process',
  positional: ['id'],
  input: one,
  output: described,
  run: (context, { id }) => changed(context, id, [set('enabled', true)]),
})

export const agentDisable = command({
  name: 'agent disable',
  summary: 'let an agent run no more; what runs goes on',
  runsIn: 'any_process',
  positional: ['id'],
  input: one,
  output: described,
  run: (context, { id }) => changed(context, id, [set('enabled', false)]),
})

const set = (key: string, value: Json | undefined): ConfigChange => ({ path: [key], value })

async function changed(context: Context, id: string, changes: readonly ConfigChange[]): Promise<Described> {
  context.roster.change(id, changes)
  context.kernel.refresh()
  return describe(context, id)
}

/** In a file `${` begins a variable; what somebody says to an agent is no variable. */
const literal = (text: string): string => text.replaceAll('${', () => '$${')

function fileOf({ roster }: Context, id: string): string {
  return roster.all().find(({ agent }) => agent.agent_id === id)?.file ?? 'its file'
}

/** A name that nobody has: the one from the sentence, or with a number behind it. */
function freeId(context: Context, wanted: string): string {
  const taken = new Set(context.agents().map((id) => id.toLowerCase()))
  const numbered = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`)
  let n = 1
  while (taken.has(numbered(n))) n += 1
  return numbered(n)
}

const written = (when: WrittenSchedule): Json => (typeof when === 'string' ? when : { ...when })

function modelKey({ models }: Context, model: string | undefined): { readonly model?: string } {
  return model === undefined || model === 'none' ? {} : { model: models.get(model).id }
}

/** What is named by hand, else what the sentence names, else where whoever says it stands. */
async function watchedBy(
  context: Context,
  { path, repository, thisFolder }: Sentence,
  watch: string | undefined,
  here: string | undefined,
): Promise<Json | undefined> {
  if (watch !== undefined) return probeOf(context, watch, true)
  if (path !== null) return probeOf(context, context.machine.fullPath(path, here), repository)
  if (here === undefined || !(repository || thisFolder)) return undefined
  const top = repository ? await context.machine.workTreeAt(here) : undefined
  return top === undefined ? (thisFolder ? here : undefined) : { git: top }
}

/** `git`: a work tree is looked at as one. */
async function probeOf({ machine }: Context, path: string, git: boolean): Promise<Exclude<Watched, readonly Json[]>> {
  const top = git ? await machine.workTreeAt(path) : undefined
  return top === path ? { git: top } : path
}
