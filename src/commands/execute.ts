/** Running a command, whoever asks: input checked before, output checked after, and no secret in it. */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { deepFreeze } from '../domain/json.ts'
import { describeMismatch } from '../domain/mismatch.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import { tell as unharmed } from '../ports/sink.ts'
import type { Command, Context, Progress } from './command.ts'
import { fieldsOf } from './fields.ts'
import type { Outside } from './outside.ts'

export async function execute(
  command: Command,
  context: Context,
  input: unknown,
  tell: (progress: Progress) => void,
): Promise<unknown> {
  const { hide = (text: string) => text } = context as Partial<Context>
  const told = (progress: Progress): void => unharmed(() => tell(deepFreeze(progress)))
  try {
    const output = checkedOutput(command, await command.run(context, checked(command, input), told))
    return redacted(output, hide)
  } catch (thrown) {
    throw withoutSecrets(thrown, hide)
  }
}

/** Whoever asks: an error says no more than an answer does. */
function withoutSecrets(raw: unknown, hide: Redact): unknown {
  const thrown = pathTrouble(raw) ?? raw
  const error = asTirelessError(thrown)
  const message = hide(error.message)
  return message === error.message ? thrown : new TirelessError(error.code, message)
}

/** What the machine says of a path that it cannot use; a disk that fails is none of them. */
const PATH_TROUBLE: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is no folder, or something above it is none',
  ENOENT: 'there is no such file or folder',
  EEXIST: 'it is there already',
  ENOTEMPTY: 'it is not empty',
  ENAMETOOLONG: 'its name is too long',
  EINVAL: 'it is no path that can be used',
  ELOOP: 'its links lead in a circle',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the disk is read-only',
}

function pathTrouble(thrown: unknown): TirelessError | undefined {
  if (!(thrown instanceof Error) || thrown instanceof TirelessError) return undefined
  const { code = '', path } = thrown as NodeJS.ErrnoException
  const what = PATH_TROUBLE[code]
  if (what === undefined || path === undefined) return undefined
  return new TirelessError('path_refused', { what, got: path, fix: 'name another path' }, { cause: thrown })
}

/** Contract: throws `why` for a command that can do nothing without the home. */
export async function executeShut(
  command: Command,
  outside: Outside,
  input: unknown,
  why: TirelessError,
): Promise<unknown> {
  if (!command.shut) throw why
  return checkedOutput(command, await command.shut(outside, checked(command, input), why))
}

function checked(command: Command, input: unknown): Record<string, unknown> {
  const { success, data, error } = command.input.strict().safeParse(input)
  const what = success ? whyUnreadable(data) : describeMismatch(error.issues, input, secretKeys(command))
  if (success && what === undefined) return data
  throw new TirelessError('usage', { what: what ?? '', where: command.name, fix: `see: ${command.name} --help` })
}

const secretKeys = (command: Command): readonly string[] =>
  fieldsOf(command).flatMap(({ key, isSecret }) => (isSecret ? [key] : []))

/** Half characters and NUL: no file name, process or database takes them as they are. */
function whyUnreadable(value: unknown, place = ''): string | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() && !value.includes('\0')
      ? undefined
      : `${place}: expected text without NUL and without half characters (lone surrogates)`
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const why = whyUnreadable(inner, place === '' ? key : `${place}.${key}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** What does not fit here is a fault of the program: nobody can do anything with the validator's own words. */
function checkedOutput(command: Command, output: unknown): unknown {
  const { success, data, error } = command.output.safeParse(output)
  if (success) return data
  throw new TirelessError('internal', {
    what: 'the answer does not have its own shape',
    where: command.name,
    got: describeMismatch(error.issues, output),
    fix: 'run: tireless doctor; if it finds nothing, report this',
  })
}
