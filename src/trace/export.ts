/** Exports a run as one self-contained HTML page: no script, no external resources, all content escaped. */

import type { Event } from '../domain/event.ts'
import { type Json, parseJson } from '../domain/json.ts'
import { titleOfRun } from '../domain/title.ts'
import { type Html, html, htmlText, trustedHtml } from './html.ts'
import { STYLE } from './style.ts'
import type { Trace } from './trace.ts'

export function exportHtml({ manifest, events }: Trace): string {
  const steps = groupBySteps(events)
  const began = events[0]?.ts ?? 0
  const title = `${manifest.run_id} · ${manifest.stop_reason ?? manifest.status}`
  // Forbids scripts and loading of resources, in case the escaping has a gap.
  const policy = "default-src 'none'; style-src 'unsafe-inline'"
  return htmlText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trustedHtml(STYLE)}</style>
</head>
<body>
<main>
<p class="eyebrow">${statusPill(manifest)} <span>${manifest.agent_id}</span> <code>${manifest.run_id}</code></p>
<h1>${manifest.task === null ? 'this run has not started' : titleOfRun(manifest.task, manifest.behaviour)}</h1>
${factList(manifest, steps, events)}
${timeline(steps, events)}
${outcomeSection(manifest)}
<h2>Steps</h2>
${steps.map((step) => stepCard(step, began))}
<h2>Events</h2>
<details><summary>all ${events.length} events</summary>${eventTable(events, began)}</details>
<footer>Session <code>${manifest.session_id}</code> · trace format ${manifest.schema_version}
· made with Tireless</footer>
</main>
</body>
</html>
`)
}

interface StepEvents {
  readonly step_id: number
  readonly events: readonly Event[]
}

function groupBySteps(events: readonly Event[]): readonly StepEvents[] {
  const inSteps = events.filter(({ step_id, phase }) => step_id > 0 && phase !== 'END')
  return [...Map.groupBy(inSteps, ({ step_id }) => step_id)].map(([step_id, own]) => ({ step_id, events: own }))
}

function statusPill({ status, stop_reason }: Trace['manifest']): Html {
  const tone = status === 'completed' ? 'good' : status === 'failed' ? 'bad' : 'warn'
  return html`<span class="pill ${tone}">${status === 'running' ? 'running' : stop_reason}</span>`
}

function factList(manifest: Trace['manifest'], steps: readonly StepEvents[], events: readonly Event[]): Html {
  const { usage, setup, started_at } = manifest
  // A fork begins with copied events, which are older than itself.
  const own = started_at === null ? [] : events.filter(({ ts }) => ts >= Date.parse(started_at))
  const pairs: readonly (readonly [string, string | number | null | undefined])[] = [
    ['Model', setup?.model],
    ['Behaviour', manifest.behaviour],
    ['Parser', setup?.parser],
    ['Memory', setup?.memory],
    ['Critics', setup?.critics.join(', ')],
    ['Steps', steps.length],
    ['Tokens in', groupDigits(usage.input_tokens)],
    ['Tokens out', groupDigits(usage.output_tokens)],
    ['Cost', manifest.cost_usd === null ? 'unknown' : `$${manifest.cost_usd.toFixed(4)}`],
    ['Duration', formatDuration(durationOf(own))],
    ['Started', started_at?.replace('T', ' ').replace(/\..*/, ' UTC')],
  ]
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const rows = given.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)
  return html`<dl class="facts">${rows}</dl>`
}

/** One bar per step, as wide as the step was long, with a minimum width for clicking. */
function timeline(steps: readonly StepEvents[], events: readonly Event[]): Html {
  if (steps.length < 2) return html``
  return html`<nav class="lane" aria-label="steps by duration">${steps.map(({ step_id, events: own }) => {
    const tone = own.some(({ ok }) => !ok) ? 'bad' : ''
    const name = `step ${step_id}: ${formatDuration(durationOf(own))}`
    const width = Math.max(1, durationOf(own))
    return html`<a class="${tone}" href="#step-${step_id}" title="${name}" aria-label="${name}"
 style="flex-grow:${width}"></a>`
  })}</nav><div class="lane-ends"><span>0</span><span>${formatDuration(durationOf(events))}</span></div>`
}

function outcomeSection({ final_answer, error, issues, failure_class }: Trace['manifest']): Html {
  const problems = issues.map(({ code, message }) => html`<p class="trouble">${code}: ${message}</p>`)
  const answer = final_answer === null ? '' : html`<h2>Answer</h2><div class="card answer">${final_answer}</div>`
  const isFailed = error !== null || problems.length > 0
  const failure = html`<h2>Error</h2><div class="card answer bad">${failure_class} ${error}${problems}</div>`
  return html`${answer}
${isFailed ? failure : ''}`
}

function stepCard({ step_id, events }: StepEvents, began: number): Html {
  const of = (phase: string, stage: string): Fields | undefined =>
    events.find((event) => event.phase === phase && event.stage === stage)?.payload as Fields | undefined
  const decision = of('DECIDE', 'decision_ready')
  const observed = of('OBSERVE', 'observation_ready')
  const stop = of('CHECK_STOP', 'stop')
  const starts = events[0]?.ts ?? began
  return html`<article class="card step" id="step-${step_id}">
<header><b>Step ${step_id}</b> <span class="pill">${String(decision?.kind ?? 'no decision')}</span>${
    stop && stop.stop_reason !== decision?.kind ? html` <span class="pill">${String(stop.stop_reason)}</span>` : ''
  }<span class="time">+${formatDuration(starts - began)} · ${formatDuration(durationOf(events))}</span></header>
${observationSection(observed)}
${errorLines(events, (phase) => phase === 'DECIDE_ERROR')}
${events.filter(isOutput).map(({ payload }) => modelSection(payload as Fields))}
${callSection(decision, of('ACT', 'action_results'))}
${stateSection(of('REDUCE', 'state_reduced'))}
${criticSection(of('CRITIC', 'outputs_ready'))}
${errorLines(events, (phase) => phase !== 'DECIDE_ERROR' && phase !== 'ACT' && phase !== 'RECOVER')}
</article>`
}

type Fields = Readonly<Record<string, Json>>

const isOutput = ({ phase, stage }: Event): boolean => phase === 'DECIDE' && stage === 'model_output'

function observationSection(observed: Fields | undefined): Html {
  if (!observed) return html``
  const input = listOf(observed.input)
  const feedback = typeof observed.feedback === 'string' ? html`<p class="said note">${observed.feedback}</p>` : ''
  const own = observed.observation === undefined ? '' : html`<pre>${formatJson(observed.observation)}</pre>`
  if (input.length === 0 && feedback === '' && own === '') return html``
  const lines = input.map((item) => {
    const { text, name, payload } = item as Fields
    return text === undefined
      ? html`<p class="said"><code>${String(name)}</code> ${payload === undefined ? '' : formatJson(payload)}</p>`
      : html`<p class="said">${String(text)}</p>`
  })
  return html`<h3>Observed</h3>${lines}${feedback}${own}`
}

function modelSection({ text, notes, fault }: Fields): Html {
  const noteEntries = Object.entries((notes ?? {}) as Fields)
  if (text === '' && noteEntries.length === 0) return html``
  return html`<h3>Model</h3>${text === '' ? '' : html`<p class="said">${String(text)}</p>`}
${noteEntries.map(([name, note]) => html`<p class="said note">${name}: ${String(note)}</p>`)}
${typeof fault === 'string' ? html`<p class="trouble">${fault}</p>` : ''}`
}

function callSection(decision: Fields | undefined, acted: Fields | undefined): Html {
  const requested = listOf(decision?.calls)
  const results = listOf(acted?.results)
  if (requested.length === 0) return html``
  return html`<h3>Calls</h3>${requested.map((call, i) => {
    const { tool, args } = call as Fields
    const { status = 'no result', content = '' } = (results[i] ?? {}) as Fields
    const tone = status === 'ok' ? 'good' : 'bad'
    const output = content === '' ? '' : html`<pre>${String(content)}</pre>`
    return html`<section class="call">
<header><code>${String(tool)}</code><span class="pill ${tone}">${String(status)}</span></header>
<pre class="args">${formatArguments(args ?? null)}</pre>${output}</section>`
  })}`
}

function stateSection(reduced: Fields | undefined): Html {
  const changed = reduced?.state_diff
  return changed === undefined || changed === null
    ? html``
    : html`<details><summary>state changed</summary><pre>${formatJson(changed)}</pre></details>`
}

function criticSection(outputs: Fields | undefined): Html {
  const verdicts = listOf(outputs?.verdicts)
  if (verdicts.length === 0) return html``
  return html`<h3>Critics</h3>${verdicts.map((verdict) => {
    const { critic, kind, instruction, reason } = verdict as Fields
    const tone = kind === 'continue' ? 'good' : kind === 'retry' ? 'warn' : 'bad'
    const text = String(instruction ?? reason ?? '')
    return html`<p class="said"><span class="pill ${tone}">${String(kind)}</span> <b>${String(critic)}</b> ${text}</p>`
  })}`
}

/** The errors of these events, each with the ruling of the retry policy. */
function errorLines(events: readonly Event[], isIncluded: (phase: Event['phase']) => boolean): readonly Html[] {
  return events.flatMap(({ ok, phase, seq, payload, error }) => {
    if (ok || !isIncluded(phase)) return []
    const ruling = events.find((event) => event.seq === seq + 1 && event.phase === 'RECOVER')
    const message = error ?? `${String(payload.about)}: ${String(payload.message)}`
    return [
      html`<p class="trouble"><b>${phase.replace('_ERROR', '')}</b> ${message}${
        ruling ? html` <span class="pill bad">${ruling.stage}</span>` : ''
      }</p>`,
    ]
  })
}

const eventTable = (events: readonly Event[], began: number): Html =>
  html`<table><thead><tr><th>#</th><th>step</th><th>at</th><th>event</th><th>payload</th></tr></thead>
<tbody>${events.map(
    ({ seq, step_id, ts, phase, stage, payload, ok }) =>
      html`<tr><td>${seq}</td><td>${step_id}</td><td>+${formatDuration(ts - began)}</td><td>${phase} ${stage}${
        ok ? '' : html` <span class="pill bad">not ok</span>`
      }</td><td><pre>${JSON.stringify(payload)}</pre></td></tr>`,
  )}</tbody></table>`

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const durationOf = (events: readonly Event[]): number => (events.at(-1)?.ts ?? 0) - (events[0]?.ts ?? 0)
const groupDigits = (count: number): string => String(count).replaceAll(/(?<=\d)(?=(\d{3})+$)/g, '\u202f')

/** Formats JSON, also if the value is a text that contains JSON, as arguments written by a model do. */
function formatJson(value: Json): string {
  const read = typeof value === 'string' ? parseJson(value) : value
  return read === undefined ? String(value) : JSON.stringify(read, null, 2)
}

/** Writes one line per argument, with texts unquoted. */
function formatArguments(args: Json): string {
  const value = typeof args === 'string' ? parseJson(args) : args
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return formatJson(args)
  return Object.entries(value)
    .map(([name, given]) => `${name}: ${typeof given === 'string' ? given : JSON.stringify(given)}`)
    .join('\n')
}

function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
