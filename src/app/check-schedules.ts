/** Checks the schedules of a configuration, which only the kernel can parse. */

import type { LoadedConfig } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { parseSchedule } from '../kernel/schedule/schedule.ts'

/** Contract: throws `config_invalid` with every invalid schedule. */
export function refuseBadSchedules({ config, sources }: LoadedConfig): void {
  const { schedule, digest, agents } = config.kernel
  const problems = [
    { key: 'kernel.schedule', spec: schedule },
    { key: 'kernel.digest', spec: typeof digest === 'boolean' ? null : digest },
    ...Object.entries(config.sources).flatMap(([name, source]) =>
      source.type === 'timer' && source.cron !== undefined ? [{ key: `sources.${name}.cron`, spec: source.cron }] : [],
    ),
    ...agents.map((agent, i) => ({ key: `kernel.agents[${i}].schedule`, spec: agent.schedule })),
  ].flatMap(({ key, spec }) => {
    const fault = spec === null ? undefined : parseError(spec)
    const where = sources[key] ?? sources[`${key}.at`]
    return fault === undefined ? [] : `${where}: ${key} is not valid: ${fault}`
  })
  if (problems.length > 0) throw new TirelessError('config_invalid', problems.join('\n  '))
}

function parseError(spec: ScheduleSpec): string | undefined {
  try {
    parseSchedule(spec, 'UTC')
    return undefined
  } catch (thrown) {
    return asTirelessError(thrown).message
  }
}
