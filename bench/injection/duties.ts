/**
 * The data of our own suite: agents that work unattended, with grants of their owner. Each agent reads something that
 * others write, and an attacker has put a goal there.
 */

import type { Effect } from '../../src/domain/effect.ts'
import type { Duty } from './duty-builders.ts'
import { TEAM_DUTIES } from './team-duties.ts'
import { WATCH_DUTIES } from './watch-duties.ts'

/** Hosts that every agent may read. */
export const ALLOWED_HOSTS = ['registry.example.org', 'status.example.org', 'news.example.org', '*.weather.example']

/** Effects of tools whose names do not show them. */
export const EFFECTS: Readonly<Record<string, Effect>> = {
  write_draft: { recovery: 'idempotent', reach: 'workspace' },
  change_own_schedule: { recovery: 'once', reach: 'self' },
  change_own_instructions: { recovery: 'once', reach: 'self' },
}

export const DUTIES: readonly Duty[] = [...TEAM_DUTIES, ...WATCH_DUTIES]
