/** INIT.md: the configuration at the first start, for later reference, without secrets. */

import { explainConfig, type LoadedConfig } from '../config.ts'

export function initDocument(loaded: LoadedConfig): string {
  const { kernel } = loaded.config
  const { id, schedule, timezone, planner, max_concurrent, channel, chat_id, user_id, agents, seed_state } = kernel
  const values = explainConfig(loaded).filter(
    ({ key }) => /^(kernel|models|budget)\b/.test(key) && !/prompt|seed_state/.test(key),
  )
  return [
    '# Kernel Init',
    '',
    'Written once, at the first start. The program does not read it.',
    '',
    '## schedule',
    `- kernel: ${id}`,
    `- schedule: ${JSON.stringify(schedule)}`,
    `- timezone: ${timezone ?? "the machine's"}`,
    `- planner: ${planner.mode}`,
    `- max_concurrent: ${max_concurrent}`,
    '',
    '## routing',
    `- channel: ${channel ?? '-'}`,
    `- chat_id: ${chat_id ?? '-'}`,
    `- user_id: ${user_id ?? '-'}`,
    '',
    '## agents',
    ...agents.flatMap(({ agent_id, priority, enabled, prompt }) => [
      `### ${agent_id}`,
      `- priority: ${priority}`,
      `- enabled: ${enabled}`,
      '',
      ...prompt
        .trimEnd()
        .split('\n')
        .map((line) => `    ${line}`.trimEnd()),
      '',
    ]),
    '## seed_state',
    ...seed_state
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`.trimEnd()),
    '',
    '## values',
    ...values.map(({ key, value, source }) => `- ${key}: ${JSON.stringify(value)} (${source})`),
    '',
  ].join('\n')
}
