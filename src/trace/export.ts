/** A run as one page that needs nothing else: no script, nothing loaded, whatever is in it shown as text. */

import type { Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { html, type Markup, textOf, trusted } from './markup.ts'
import { STYLE } from './style.ts'
import type { Trace } from './trace.ts'

export function exportHtml({ manifest, events }: Trace): string {
  const steps = stepsIn(events)
  const began = events[0]?.ts ?? 0
  const title = `${manifest.run_id} · ${manifest.stop_reason ?? manifest.status}`
  // Nothing may be loaded or run, whatever a tool's output might contrive.
  const policy = "default-src 'none'; style-src 'unsafe-inline'"
  return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<main>
<p class="eyebrow">${statusPill(manifest)} <span>${manifest.agent_id}</span> <code>${manifest.run_id}</code></p>
<h1>${manifest.task ?? 'a run that has not begun'}</h1>
${facts(manifest, steps, events)}
${lane(steps, events)}
${outcome(manifest)}
<h2>Steps</h2>
${steps.map((step) => stepCard(step, began))}
<h2>Events</h2>
<details><summary>all ${events.length} of them, as they were told</summary>${eventTable(events, began)}</details>
<footer>Session <code>${manifest.session_id}</code> · trace format ${manifest.schema_version} · made with Tireless</footer>
</main>
</body>
</html>
`)
}

interface Told {
  readonly step_id: number
  readonly events: readonly Event[]
}

function stepsIn(events: readonly Event[]): readonly Told[] {
  const inSteps = events.filter(({ step_id, phase }) => step_id > 0 && phase !== 'END')
  return [...Map.groupBy(inSteps, ({ step_id }) => step_id)].map(([step_id, own]) => ({ step_id, events: own }))
}

function statusPill({ status, stop_reason }: Trace['manifest']): Markup {
  const tone = status === 'completed' ? 'good' : status === 'failed' ? 'bad' : 'warn'
  return html`<span class="pill ${tone}">${status === 'running' ? 'not over' : stop_reason}</span>`
}

function facts(manifest: Trace['manifest'], steps: readonly Told[], events: readonly Event[]): Markup {
  const { usage, setup } = manifest
  const pairs: readonly (readonly [string, string | number | null | undefined])[] = [
    ['Model', setup?.model],
    ['Behaviour', manifest.behaviour],
    ['Parser', setup?.parser],
    ['Memory', setup?.memory],
    ['Critics', setup?.critics.join(', ')],
    ['Steps', steps.length],
    ['Tokens in', grouped(usage.input_tokens)],
    ['Tokens out', grouped(usage.output_tokens)],
    ['Cost', manifest.cost_usd === null ? 'not known' : `$${manifest.cost_usd.toFixed(4)}`],
    ['Took', lasting(spanOf(events))],
    ['Began', manifest.started_at?.replace('T', ' ').replace(/\..*/, ' UTC')],
  ]
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return html`<dl class="facts">${given.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** A bar per step, as wide as it was long; every one wide enough to be hit. */
function lane(steps: readonly Told[], events: readonly Event[]): Markup {
  if (steps.length < 2) return html``
  return html`<nav class="lane" aria-label="steps by duration">${steps.map(({ step_id, events: own }) => {
    const tone = own.some(({ ok }) => !ok) ? 'bad' : ''
    const name = `step ${step_id}: ${lasting(spanOf(own))}`
    return html`<a class="${tone}" href="#step-${step_id}" title="${name}" aria-label="${name}" style="flex-grow:${Math.max(1, spanOf(own))}"></a>`
  })}</nav><div class="lane-ends"><span>0</span><span>${lasting(spanOf(events))}</span></div>`
}

function outcome({ final_answer, error, issues, failure_class }: Trace['manifest']): Markup {
  const problems = issues.map(({ code, message }) => html`<p class="trouble">${code}: ${message}</p>`)
  return html`${final_answer === null ? '' : html`<h2>Answer</h2><div class="card answer">${final_answer}</div>`}
${error === null && problems.length === 0 ? '' : html`<h2>What went wrong</h2><div class="card answer bad">${failure_class} ${error}${problems}</div>`}`
}

function stepCard({ step_id, events }: Told, began: number): Markup {
  const of = (phase: string, stage: string): Fields | undefined =>
    events.find((event) => event.phase === phase && event.stage === stage)?.payload as Fields | undefined
  const decision = of('DECIDE', 'decision_ready')
  const observed = of('OBSERVE', 'observation_ready')
  const stop = of('CHECK_STOP', 'stop')
  const starts = events[0]?.ts ?? began
  return html`<article class="card step" id="step-${step_id}">
<header><b>Step ${step_id}</b> <span class="pill">${String(decision?.kind ?? 'undecided')}</span>${
    stop && stop.stop_reason !== decision?.kind ? html` <span class="pill">${String(stop.stop_reason)}</span>` : ''
  }<span class="time">+${lasting(starts - began)} · ${lasting(spanOf(events))}</span></header>
${observation(observed)}
${troubleIn(events, (phase) => phase === 'DECIDE_ERROR')}
${events.filter(isOutput).map(({ payload }) => modelSaid(payload as Fields))}
${calls(decision, of('ACT', 'action_results'))}
${diff(of('REDUCE', 'state_reduced'))}
${critics(of('CRITIC', 'outputs_ready'))}
${troubleIn(events, (phase) => phase !== 'DECIDE_ERROR' && phase !== 'ACT' && phase !== 'RECOVER')}
</article>`
}

type Fields = Readonly<Record<string, Json>>

const isOutput = ({ phase, stage }: Event): boolean => phase === 'DECIDE' && stage === 'model_output'

function observation(observed: Fields | undefined): Markup {
  if (!observed) return html``
  const input = listOf(observed.input)
  const feedback = typeof observed.feedback === 'string' ? html`<p class="said note">${observed.feedback}</p>` : ''
  const own = observed.observation === undefined ? '' : html`<pre>${pretty(observed.observation)}</pre>`
  if (input.length === 0 && feedback === '' && own === '') return html``
  const lines = input.map((item) => {
    const { text, name, payload } = item as Fields
    return text === undefined
      ? html`<p class="said"><code>${String(name)}</code> ${payload === undefined ? '' : pretty(payload)}</p>`
      : html`<p class="said">${String(text)}</p>`
  })
  return html`<h3>Observed</h3>${lines}${feedback}${own}`
}

function modelSaid({ text, notes, fault }: Fields): Markup {
  const told = Object.entries((notes ?? {}) as Fields)
  if (text === '' && told.length === 0) return html``
  return html`<h3>Model</h3>${text === '' ? '' : html`<p class="said">${String(text)}</p>`}
${told.map(([name, note]) => html`<p class="said note">${name}: ${String(note)}</p>`)}
${typeof fault === 'string' ? html`<p class="trouble">${fault}</p>` : ''}`
}

function calls(decision: Fields | undefined, acted: Fields | undefined): Markup {
  const asked = listOf(decision?.calls)
  const results = listOf(acted?.results)
  if (asked.length === 0) return html``
  return html`<h3>Calls</h3>${asked.map((call, i) => {
    const { tool, args } = call as Fields
    const { status = 'no result', content = '' } = (results[i] ?? {}) as Fields
    const tone = status === 'ok' ? 'good' : 'bad'
    return html`<section class="call"><header><code>${String(tool)}</code><span class="pill ${tone}">${String(status)}</span></header>
<pre class="args">${argumentsOf(args ?? null)}</pre>${content === '' ? '' : html`<pre>${String(content)}</pre>`}</section>`
  })}`
}

function diff(reduced: Fields | undefined): Markup {
  const changed = reduced?.state_diff
  return changed === undefined || changed === null
    ? html``
    : html`<details><summary>state changed</summary><pre>${pretty(changed)}</pre></details>`
}

function critics(said: Fields | undefined): Markup {
  const verdicts = listOf(said?.verdicts)
  if (verdicts.length === 0) return html``
  return html`<h3>Critics</h3>${verdicts.map((verdict) => {
    const { critic, kind, instruction, reason } = verdict as Fields
    const tone = kind === 'continue' ? 'good' : kind === 'retry' ? 'warn' : 'bad'
    return html`<p class="said"><span class="pill ${tone}">${String(kind)}</span> <b>${String(critic)}</b> ${String(instruction ?? reason ?? '')}</p>`
  })}`
}

/** What went wrong, and what was ruled on it. */
function troubleIn(events: readonly Event[], isMeant: (phase: Event['phase']) => boolean): readonly Markup[] {
  return events.flatMap(({ ok, phase, seq, payload, error }) => {
    if (ok || !isMeant(phase)) return []
    const ruled = events.find((event) => event.seq === seq + 1 && event.phase === 'RECOVER')
    const said = error ?? `${String(payload.about)}: ${String(payload.message)}`
    return [
      html`<p class="trouble"><b>${phase.replace('_ERROR', '')}</b> ${said}${
        ruled ? html` <span class="pill bad">${ruled.stage}</span>` : ''
      }</p>`,
    ]
  })
}

const eventTable = (events: readonly Event[], began: number): Markup =>
  html`<table><thead><tr><th>#</th><th>step</th><th>at</th><th>event</th><th>payload</th></tr></thead><tbody>${events.map(
    ({ seq, step_id, ts, phase, stage, payload, ok }) =>
      html`<tr><td>${seq}</td><td>${step_id}</td><td>+${lasting(ts - began)}</td><td>${phase} ${stage}${
        ok ? '' : html` <span class="pill bad">not ok</span>`
      }</td><td><pre>${JSON.stringify(payload)}</pre></td></tr>`,
  )}</tbody></table>`

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const spanOf = (events: readonly Event[]): number => (events.at(-1)?.ts ?? 0) - (events[0]?.ts ?? 0)
const grouped = (count: number): string => String(count).replaceAll(/(?<=\d)(?=(\d{3})+$)/g, '\u202f')

/** Arguments come as the text that a model wrote; read as JSON they are easier on the eye. */
function pretty(value: Json): string {
  const read = typeof value === 'string' ? parsed(value) : value
  return read === undefined ? String(value) : JSON.stringify(read, null, 2)
}

/** One line per argument, so that a text among them reads as it is. */
function argumentsOf(args: Json): string {
  const value = typeof args === 'string' ? parsed(args) : args
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return pretty(args)
  return Object.entries(value)
    .map(([name, given]) => `${name}: ${typeof given === 'string' ? given : JSON.stringify(given)}`)
    .join('\n')
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
