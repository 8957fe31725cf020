/**
 * Preflight: checks whether a task can start. Each issue has a code. If all issues concern the environment, the stop
 * reason is `env_capability_mismatch`, else `task_validation_failed`.
 */

import type { Issue } from '../../domain/decision.ts'
import type { Dispatch } from '../../domain/dispatch.ts'
import type { RunSetup } from '../../domain/journal-record.ts'
import { isConditional, namedOutputs } from '../../domain/named-outputs.ts'
import type { StopReason } from '../../domain/stop-reason.ts'
import type { Budget, Resource } from '../../domain/task.ts'
import { type Env, type FileOps, requireOps } from '../../ports/env.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { askPluginAsync } from '../plugins/ask-plugin.ts'
import { healthPort } from '../plugins/env-and-rule-shapes.ts'
import type { ClaimedRun } from '../run.ts'

export const createIssue = (code: string, message: string): Issue => ({ code, message })

export function stopReasonFor(
  issues: readonly Issue[],
): Extract<StopReason, 'task_validation_failed' | 'env_capability_mismatch'> {
  return issues.some(({ code }) => !code.startsWith('ENV_')) ? 'task_validation_failed' : 'env_capability_mismatch'
}

/**
 * Contract: the files that the task tells to write. Undefined: no result is expected, because the run cannot write
 * files, may do nothing, or only has to try.
 */
export const findOutputs = ({ prompt, metadata }: Dispatch, { tools }: RunSetup): readonly string[] | undefined =>
  tools.some((tool) => WRITERS.includes(tool)) && metadata.noop !== true && !isConditional(prompt)
    ? namedOutputs(prompt)
    : undefined

/** A run with one of these tools can write files, or plan to do so. */
const WRITERS = ['create_file', 'todo_add']

export function findTaskIssues({ engine, dispatch }: ClaimedRun, budget: Budget): readonly Issue[] {
  const { prompt, agent_id } = dispatch
  const limits = [
    ['TASK_BUDGET_STEPS_INVALID', 'steps', 'whole'],
    ['TASK_BUDGET_RUNTIME_INVALID', 'ms', 'any'],
    ['TASK_BUDGET_TOKENS_INVALID', 'tokens', 'whole'],
    ['TASK_BUDGET_MONEY_INVALID', 'usd', 'any'],
    ['TASK_BUDGET_CONTEXT_INVALID', 'context', 'whole'],
  ] as const
  return [
    ...engine.agentIssues(agent_id),
    ...(prompt !== '' && prompt.trim() === '' ? [createIssue('TASK_OBJECTIVE_INVALID', 'the task is empty')] : []),
    ...limits.flatMap(([code, name, kind]) => {
      const limit: unknown = budget[name]
      const isNumber = kind === 'whole' ? Number.isSafeInteger(limit) : Number.isFinite(limit)
      if (limit === null || (isNumber && Number(limit) > 0)) return []
      const expected = `a ${kind === 'whole' ? 'whole number' : 'number'} above 0, or null for no limit`
      return [createIssue(code, `budget.${name}: got ${JSON.stringify(limit)}; expected ${expected}`)]
    }),
  ]
}

/** Checks that the environment is healthy and has the operations that the tools need. */
export async function findEnvIssues(env: Env, tools: Iterable<AnyTool>): Promise<readonly Issue[]> {
  const missing = [...tools].flatMap((tool) =>
    (tool.needs ?? [])
      .filter((group) => !env.groups.includes(group))
      .map((group) =>
        env.groups.length === 0
          ? createIssue(
              'ENV_REQUIRED_OPS_MISSING',
              `${tool.name} needs ${group} operations, but the environment has no operations`,
            )
          : createIssue(
              'ENV_OPS_GROUP_MISSING',
              `${tool.name} needs ${group} operations; the environment has only ${env.groups.join(', ')}`,
            ),
      ),
  )
  const health = await askPluginAsync(healthPort(env), () => env.health())
  return health.ok ? missing : [...missing, createIssue('ENV_HEALTH_CHECK_FAILED', health.reason)]
}

/** Checks that the resources exist and copies them to their targets. If `mount` is false, nothing is copied. */
export async function findResourceIssues(
  env: Env,
  resources: readonly Resource[],
  mount: boolean,
): Promise<readonly Issue[]> {
  if (resources.length === 0) return []
  const file = env.groups.includes('file') ? requireOps(env, 'file') : undefined
  const issues: Issue[] = []
  for (const resource of resources) {
    const { path, mount_to, required = true } = resource
    if (typeof path !== 'string' || path === '')
      issues.push(createIssue('TASK_RESOURCE_LOCATOR_MISSING', 'a resource has no path'))
    else if (mount_to?.trim() === '')
      issues.push(createIssue('TASK_RESOURCE_MOUNT_INVALID', `${path}: mount_to is empty`))
    else if (!file)
      issues.push(createIssue('ENV_REQUIRED_OPS_MISSING', `${path}: the environment has no file operations`))
    else issues.push(...(await checkResource(file, mount ? resource : withoutMount(resource), required)))
  }
  return issues
}

const withoutMount = ({ mount_to: _, ...resource }: Resource): Resource => resource

async function checkResource(
  file: FileOps,
  { path, mount_to, writable }: Resource,
  required: boolean,
): Promise<Issue[]> {
  const found = await file.read(path).catch(() => undefined)
  const exists = found !== undefined || (await isFolder(file, path))
  if (!exists) return required ? [createIssue('TASK_RESOURCE_MISSING', `${path} does not exist`)] : []
  if (writable && !(await file.writable(path)))
    return [createIssue('TASK_RESOURCE_NOT_WRITABLE', `${path} is not writable`)]
  if (mount_to === undefined || !found) return []
  try {
    if ((await file.read(mount_to)) === undefined) await file.write(mount_to, found.text, null)
    return []
  } catch (thrown) {
    return [
      createIssue('TASK_RESOURCE_MOUNT_INVALID', `${path} cannot be mounted at ${mount_to}: ${messageOf(thrown)}`),
    ]
  }
}

async function isFolder(file: FileOps, path: string): Promise<boolean> {
  return file.list(path, 1, 1).then(
    () => true,
    () => false,
  )
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
