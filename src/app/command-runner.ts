/** Runs commands by name, in the context of an open home. */

import type { CommandContext } from '../commands/lib/context.ts'
import { ignoreProgress, type Progress } from '../commands/lib/progress.ts'
import { COMMAND_NAMES, loadCommand } from '../commands/lib/registry.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { TirelessError } from '../domain/error.ts'

/** Contract: throws `usage` for an unknown command, or one that cannot run in this process. */
export type CommandRunner = (name: string, input: unknown, tell?: (progress: Progress) => void) => Promise<unknown>

export function createCommandRunner(context: CommandContext): CommandRunner {
  return async (name, input, onProgress = ignoreProgress) => {
    const command = await loadCommand(name)
    if (!command)
      throw new TirelessError('usage', { what: 'unknown command', got: name, expected: COMMAND_NAMES.join(', ') })
    if (command.runsIn === 'kernel')
      throw new TirelessError('usage', {
        what: `${name} only works from another process`,
        fix: 'use app.context.listen to receive events here',
      })
    if (command.runsIn === 'closed_home')
      throw new TirelessError('usage', {
        what: `${name} needs a home that is not open`,
        fix: `close the app, then run tireless ${name}`,
      })
    return validateAndRun(command, context, input, onProgress)
  }
}
