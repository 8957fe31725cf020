/** The keys of an agent's file, from what the owner wants. */

import { z } from 'zod'
import type { WatchSpec } from '../../domain/agent.ts'
import { writeDuration } from '../../domain/duration.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import type { Needs } from './context.ts'

const SCHEDULE_HELP =
  'when to run: words ("every weekday at 9"), a cron line, "30m", an instant; "none": only if something changes'

/** Options of both `agent new` and `agent edit`. */
export const agentOptions = {
  schedule: z.string().min(1).optional().describe(SCHEDULE_HELP),
  yes: z
    .boolean()
    .default(false)
    .describe('agree to a schedule that runs often or that a model read')
    .meta({ short: 'y' }),
  model: z.string().min(1).optional().describe('provider/model; "none": the default model'),
  watch: z
    .string()
    .min(1)
    .optional()
    .describe('file, folder or git work tree to watch for changes')
    .meta({ path: true }),
  dry_run: z.boolean().default(false).describe('only say what would come of it; change nothing'),
}

export const agentIdInput = z.string().min(1).describe('agent id').meta({ idOf: 'agent' })

/** Escapes `${`, which starts a variable in configuration files; the text of a prompt has no variables. */
export const escapeVariables = (text: string): string => text.replaceAll('${', () => '$${')

/** As people write it in a file: `every: 2h`. */
export function scheduleJson(spec: ScheduleSpec): Json {
  if (typeof spec === 'string') return spec
  return 'at' in spec ? { at: spec.at } : { every: writeDuration(spec.every) }
}

/** Contract: what the option --schedule reads back as the same schedule. */
export function scheduleOption(spec: ScheduleSpec | null): string {
  if (spec === null) return 'none'
  if (typeof spec === 'string') return spec
  return 'at' in spec ? spec.at : writeDuration(spec.every)
}

export function modelKey({ models }: Needs<'models'>, model: string | undefined): { readonly model?: string } {
  return model === undefined || model === 'none' ? {} : { model: models.get(model).id }
}

/** `git`: if `path` is the top of a git work tree, watch it as a git repository. */
export async function watchEntry(
  { machine }: Needs<'machine'>,
  path: string,
  git: boolean,
): Promise<Exclude<WatchSpec, readonly Json[]>> {
  if (!machine.pathExists(path))
    throw new TirelessError('usage', {
      what: 'there is nothing to watch at this path',
      got: path,
      expected: 'an existing file or folder',
      fix: 'create it first, or correct the path',
    })
  const top = git ? await machine.workTreeAt(path) : undefined
  return top === path ? { git: top } : path
}
