/**
 * Checks of what the server answers. The frame of the page cannot be drawn without its lists and the status, so these
 * are checked here; a place that cannot be drawn fails alone (shell/place-boundary.tsx).
 */

import type { CommandName } from '../../src/commands/lib/registry.ts'

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isList = (body: unknown): boolean => isObject(body) && Array.isArray(body.items) && body.items.every(isObject)

export const isStatus = (body: unknown): boolean =>
  isObject(body) &&
  [body.kernel, body.queue, body.sessions, body.spend].every(isObject) &&
  [body.residents, body.degraded].every(Array.isArray) &&
  isObject(body.health) &&
  Array.isArray(body.health.reasons)

export const CHECKS: Partial<Record<CommandName, (body: unknown) => boolean>> = {
  status: isStatus,
  'queue list': isList,
  'approvals list': isList,
  'unknowns list': isList,
  'needs list': isList,
  'schedule list': isList,
  'cycles list': isList,
  'messages list': isList,
}
