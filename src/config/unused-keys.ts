/** The configuration keys that have an effect today. The schema already has all documented keys. */

import type { Json } from '../domain/json.ts'
import { formatPath, type KeyPath } from './key-path.ts'

/** Each used key, and whether any value has an effect or only the listed ones. `*` matches any name or index. */
export const USED_KEYS: Readonly<Record<string, 'any' | readonly Json[]>> = {
  'kernel.id': 'any',
  'kernel.max_attempts': 'any',
  'kernel.stop_timeout': 'any',
  'kernel.lease': 'any',
  'kernel.max_concurrent': 'any',
  'kernel.enabled': 'any',
  'kernel.schedule': 'any',
  'kernel.jitter': 'any',
  'kernel.overrun': 'any',
  'kernel.missed': 'any',
  'kernel.planner': 'any',
  'kernel.timeout': 'any',
  'kernel.max_cycle_history': 'any',
  'kernel.seed_state': 'any',
  'kernel.user_id': 'any',
  'kernel.channel': 'any',
  'kernel.chat_id': 'any',
  'kernel.agents': 'any',
  'models.default': 'any',
  'models.planner': 'any',
  'models.fallback': 'any',
  'models.timeout': 'any',
  'models.max_output': 'any',
  'models.max_input': 'any',
  'models.providers.*.type': 'any',
  'models.providers.*.base_url': 'any',
  'models.providers.*.api_key': 'any',
  'models.providers.*.api_key_env': 'any',
  'models.providers.*.api_key_file': 'any',
  'models.providers.*.headers': 'any',
  'models.providers.*.stream': 'any',
  'models.providers.*.timeout': 'any',
  'models.prices': 'any',
  'kernel.timezone': 'any',
  'kernel.quiet_hours': 'any',
  'kernel.digest': 'any',
  'kernel.ping_url': 'any',
  'channels.lark': 'any',
  'channels.webhook': 'any',
  budget: 'any',
  'policy.allow_hosts': 'any',
  mcp_servers: 'any',
  search: 'any',
  coding_agents: 'any',
  'server.host': 'any',
  'server.port': 'any',
  sandbox: 'any',
  sandbox_image: 'any',
  limits: 'any',
  policy: 'any',
  retention: 'any',
  residents: 'any',
  sources: 'any',
  plugins: 'any',
  store: 'any',
  workspaces: 'any',
}

/** The keys in `data` that have no effect. If a whole branch has no effect, only its top key is listed. */
export function findUnusedKeys(data: Json, used: typeof USED_KEYS = USED_KEYS): readonly string[] {
  const patterns = Object.entries(used).map(([pattern, values]) => ({ steps: pattern.split('.'), values }))
  return [...unusedKeys(data, [], patterns)]
}

interface Pattern {
  readonly steps: readonly string[]
  readonly values: 'any' | readonly Json[]
}

/** `patterns`: the used keys that match `path` so far. */
function* unusedKeys(data: Json, path: KeyPath, patterns: readonly Pattern[]): Generator<string> {
  const end = patterns.find(({ steps }) => steps.length === path.length)
  if (patterns.length === 0 || (end && end.values !== 'any' && !end.values.includes(data))) yield formatPath(path)
  if (patterns.length === 0 || end || typeof data !== 'object' || data === null) return
  for (const [name, child] of Object.entries(data)) {
    const matching = patterns.filter(({ steps }) => ['*', name].includes(steps[path.length] ?? ''))
    yield* unusedKeys(child, [...path, Array.isArray(data) ? Number(name) : name], matching)
  }
}
