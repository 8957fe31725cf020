/** Runs a command: checks its input and output, and redacts secrets from output and errors. */

import { describeMismatch } from '../../domain/describe-issues.ts'
import { asTirelessError, readSafely, TirelessError } from '../../domain/error.ts'
import { deepFreeze } from '../../domain/json.ts'
import { type Redact, redactValue } from '../../domain/redact.ts'
import { notifySafely as tellSafely } from '../../ports/run-sink.ts'
import type { ClosedHomeContext } from './closed-home.ts'
import type { Command } from './command.ts'
import type { CommandContext, NoHomeContext } from './context.ts'
import { inputFields } from './input-fields.ts'
import { ignoreProgress, type Progress } from './progress.ts'
import { resolveIds, resolveRunIds } from './resolve-ids.ts'

/** Traces whose run ids are compared with a shortened id. */
const MAX_TRACES = 1000

/** The context of the place where the command runs (`runsIn`); the types of commands allow them no other members. */
type AnyContext = ClosedHomeContext & Partial<CommandContext & NoHomeContext>

export async function validateAndRun(
  command: Command,
  context: AnyContext,
  input: unknown,
  tell: (progress: Progress) => void,
): Promise<unknown> {
  const { redactKnownSecrets: hide = (text: string) => text } = context
  const tellFrozen =
    tell === ignoreProgress ? tell : (progress: Progress): void => tellSafely(() => tell(deepFreeze(progress)))
  try {
    const output = checkOutput(
      command,
      await command.run(context as CommandContext, await completeInput(command, context, input), tellFrozen),
    )
    return redactValue(output, hide)
  } catch (thrown) {
    throw redactError(thrown, hide)
  }
}

function redactError(raw: unknown, hide: Redact): unknown {
  const thrown = pathError(raw) ?? raw
  const error = asTirelessError(thrown)
  const message = hide(error.message)
  return message === error.message ? thrown : new TirelessError(error.code, message)
}

/** System errors that a wrong path causes. Disk failures such as EIO are not among them. */
const PATH_ERRORS: Readonly<Record<string, string>> = {
  EISDIR: 'is a folder',
  ENOTDIR: 'is not a folder, or a parent of it is not',
  ENOENT: 'no such file or folder',
  EEXIST: 'already exists',
  ENOTEMPTY: 'is not empty',
  ENAMETOOLONG: 'name too long',
  EINVAL: 'invalid path',
  ELOOP: 'symbolic links form a loop',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the file system is read-only',
}

function pathError(thrown: unknown): TirelessError | undefined {
  if (!(thrown instanceof Error) || thrown instanceof TirelessError) return undefined
  const { code = '', path } = thrown as NodeJS.ErrnoException
  const what = PATH_ERRORS[code]
  if (what === undefined || path === undefined) return undefined
  return new TirelessError('path_refused', { what, got: path, fix: 'choose another path' }, { cause: thrown })
}

/** Contract: runs a command without an open home; throws `why` if the command needs an open one. */
export async function validateAndRunClosed(
  command: Command,
  outside: ClosedHomeContext,
  input: unknown,
  why: TirelessError,
): Promise<unknown> {
  if (!command.runClosed) throw why
  const checked = checkInput(command, input)
  const runIds = async () => (await outside.traces.list(MAX_TRACES)).map(({ run_id }) => run_id)
  const completed = await resolveRunIds(inputFields(command), checked, runIds)
  return checkOutput(command, await command.runClosed(outside, completed, why))
}

/** Ids can be completed only in an open home, which alone has a store. */
async function completeInput(command: Command, context: AnyContext, input: unknown): Promise<Record<string, unknown>> {
  const checked = checkInput(command, input)
  return context.store ? { ...(await resolveIds(command, context as CommandContext, checked)) } : checked
}

function checkInput(command: Command, input: unknown): Record<string, unknown> {
  const { success, data, error } = readSafely(command.name, () => command.input.strict().safeParse(input))
  const what = success ? describeBadText(data) : describeMismatch(error.issues, input, secretKeys(command))
  if (success && what === undefined) return data
  throw new TirelessError('usage', {
    what: what ?? '',
    where: command.name,
    fix: `run tireless ${command.name} --help`,
  })
}

const secretKeys = (command: Command): readonly string[] =>
  inputFields(command).flatMap(({ key, isSecret }) => (isSecret ? [key] : []))

/** Describes text with NUL or lone surrogates, which file names, process arguments and the database cannot hold. */
function describeBadText(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() && !value.includes('\0')
      ? undefined
      : `${path}: expected text without NUL characters and lone surrogates`
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const why = describeBadText(inner, path === '' ? key : `${path}.${key}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** Throws `internal` if the output does not match its schema, because that is a bug in the program. */
function checkOutput(command: Command, output: unknown): unknown {
  const { success, data, error } = command.output.safeParse(output)
  if (success) return data
  throw new TirelessError('internal', {
    what: 'the output does not match its schema',
    where: command.name,
    got: describeMismatch(error.issues, output),
    fix: 'run tireless doctor; if it finds nothing, report this as a bug',
  })
}
