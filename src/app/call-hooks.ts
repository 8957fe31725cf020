/** Passes events on to the hooks of plugins. */

import type { CommandContext } from '../commands/lib/context.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Hook, HookFailure } from '../ports/hook.ts'

/**
 * Calls the hooks with every event, without waiting. A failure is only logged: an event about it would reach the same
 * hook.
 */
export function callHooks(
  hooks: ReadonlyMap<string, Hook>,
  failed: (failure: HookFailure) => void,
): Parameters<CommandContext['listen']>[0] {
  const callHook = async (hook: Hook, event: Event): Promise<void> => {
    try {
      await hook.on_event?.(deepFreeze(event))
    } catch (thrown) {
      failed({ hook: hook.name, moment: 'on_event', message: asTirelessError(thrown).message })
    }
  }
  return (progress) => {
    if (progress.kind === 'event') for (const hook of hooks.values()) void callHook(hook, progress.event)
  }
}
