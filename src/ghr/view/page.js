"use strict";
// The page of `ghr view`: all it shows is in the script element "content".
(() => {
  const VIRIDIS = ["#46307e", "#3d4d8a", "#31688e", "#277f8e", "#1f9a8a", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
  const COLOURS = 96;
  const RUN_DASH = ["", "6 4"];
  const byId = (id) => document.getElementById(id);
  const state = { position: 0, playing: false, field: "", level: 1, hover: null, node: null, zoom: { k: 1, x: 0.5, y: 0.5 } };
  let page, runs, timeline, target, hops, scheme, panes = [];

  // ---- reading what is embedded -------------------------------------------------------------------------------------

  async function inflate(text) {
    const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function readArray(part) {
    if (!part) return null;
    const bytes = await inflate(part.data);
    const kind = { int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, float32: Float32Array }[part.type];
    return new kind(bytes.buffer);
  }

  // Undoes `quantise`: planes of bytes, differences along the frames, a scale for every frame.
  async function readQuantised(part) {
    if (!part) return null;
    const bytes = await inflate(part.data), [frames, size] = part.shape, count = frames * size;
    const mask = part.bits === 16 ? 0xffff : 0xff, most = mask - 1;
    const values = new Float32Array(count), code = new Int32Array(size);
    for (let f = 0, at = 0; f < frames; f++) {
      const low = part.low[f], width = part.high[f] - low;
      for (let i = 0; i < size; i++, at++) {
        const step = part.bits === 16 ? bytes[at] | (bytes[at + count] << 8) : bytes[at];
        code[i] = (code[i] + step) & mask;
        const value = low + (code[i] / most) * width;
        values[at] = code[i] > most ? NaN : part.log ? 10 ** value : value;
      }
    }
    return { frames, size, values };
  }

  async function readRun(run, number) {
    run.number = number;
    for (const level of run.levels) {
      level.edges = await readArray(level.edges);
      level.places = await readArray(level.places);
      level.clusters = await readArray(level.clusters);
    }
    // Which cluster of every level a node of the graph is in, and how many there are in each.
    run.levels.forEach((level, k) => {
      level.of = k === 0 ? null : Int32Array.from({ length: page.nodes }, (_, i) => level.clusters[k === 1 ? i : run.levels[k - 1].of[i]]);
      level.members = new Float64Array(level.nodes);
      if (k > 0) level.of.forEach((cluster) => level.members[cluster]++);
      else level.members.fill(1);
    });
    for (const field of run.fields) field.arrays = await Promise.all(field.data.map(readQuantised));
    run.byKey = Object.fromEntries(run.fields.map((field) => [field.key, field]));
    if (run.byKey.error && !run.byKey.error.arrays[0]) run.byKey.error.arrays[0] = deriveError(run.byKey.prediction.arrays[0]);
  }

  function deriveError(prediction) {
    const values = prediction.values.map((value, at) => Math.abs(value - target[at % prediction.size]));
    return { frames: prediction.frames, size: prediction.size, values };
  }

  // ---- what is where and when ---------------------------------------------------------------------------------------

  // The frame of a run at a position of the slider: the last one that is not ahead of it.
  function frameOf(run) {
    const update = timeline[state.position];
    let frame = 0;
    while (frame + 1 < run.frames.length && run.frames[frame + 1].update <= update) frame++;
    return frame;
  }

  function valuesOf(run, key, k, frame) {
    const field = run.byKey[key];
    if (!field) return null;
    const own = field.arrays[k];
    if (own) {
      const row = own.frames === 1 ? 0 : frame;
      return own.values.subarray(row * own.size, (row + 1) * own.size);
    }
    const below = field.arrays[0], level = run.levels[k];
    if (!below || !level) return null;
    const row = valuesOf(run, key, 0, frame), total = new Float64Array(level.nodes), count = new Float64Array(level.nodes);
    for (let i = 0; i < row.length; i++) {
      if (!Number.isNaN(row[i])) { total[level.of[i]] += row[i]; count[level.of[i]]++; }
    }
    return Float32Array.from(total, (sum, cluster) => (count[cluster] ? sum / count[cluster] : NaN));
  }

  function describeFrame(run) {
    const frame = run.frames[frameOf(run)];
    const where = frame.level === null || run.levels.length === 1 ? "" : frame.level === 0 ? ", the graph was updated" : `, level ${frame.level} was updated`;
    const step = frame.step && run.unit === "update" ? `, step ${frame.step}` : "";
    if (frame.update === 0) return "before the first update";
    const beyond = frame.update > run.trained ? ", beyond training" : "";
    return `after ${run.unit} ${frame.update} of ${run.total}${step}${where}${beyond}`;
  }

  // ---- numbers as text ----------------------------------------------------------------------------------------------

  function show(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "none";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
    return String(Number(value.toPrecision(size >= 1000 ? 5 : 4)));
  }
  const withUnit = (value) => `${show(value)}${page.task.unit && value !== null && !Number.isNaN(value) ? ` ${page.task.unit}` : ""}`;
  function showPrediction(value) {
    const names = page.task.classes;
    return page.task.kind === "class" && names && Number.isInteger(value) ? names[value] : withUnit(value);
  }
  const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

  // ---- colours ------------------------------------------------------------------------------------------------------

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const parse = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  function makeScale(stops) {
    const ends = stops.map(parse);
    return Array.from({ length: COLOURS }, (_, number) => {
      const at = (number / (COLOURS - 1)) * (ends.length - 1), low = Math.min(Math.floor(at), ends.length - 2), part = at - low;
      return `rgb(${ends[low].map((value, c) => Math.round(value + part * (ends[low + 1][c] - value))).join(",")})`;
    });
  }

  function readScheme() {
    const middle = css("--middle");
    const dark = document.documentElement.dataset.theme === "dark";
    const ends = dark ? ["#4aa3ff", "#86b4de", middle, "#e0aa70", "#ff9124"] : ["#0b5cad", "#74a9d8", middle, "#e6a35c", "#b35200"];
    scheme = { plain: makeScale(VIRIDIS), diverging: makeScale(ends), none: css("--none"), edge: css("--edge"), ink: css("--ink"), mark: css("--mark"), accent: css("--accent"), ground: css("--panel"), dark };
  }

  // The number of a colour, or -1 where there is none.
  function colourNumber(field, value) {
    let [low, high] = field.span;
    if (Number.isNaN(value)) return -1;
    if (field.log) {
      if (!(value > 0)) return field.key === "error" ? 0 : -1;
      value = Math.log(value); low = Math.log(low); high = Math.log(high);
    }
    const part = (value - low) / (high - low);
    return Math.round(Math.min(Math.max(part, 0), 1) * (COLOURS - 1));
  }

  // ---- panes --------------------------------------------------------------------------------------------------------

  class Pane {
    constructor(run, coarse) {
      this.run = run; this.coarse = coarse;
      this.box = document.createElement("figure");
      this.box.className = "pane";
      const title = coarse ? "coarse copy" : "graph";
      this.box.innerHTML = `<div class="stage"><canvas></canvas><canvas></canvas><canvas class="over" tabindex="0" role="img"></canvas></div><figcaption></figcaption>`;
      this.stage = this.box.firstChild;
      [this.edges, this.nodes, this.over] = this.stage.children;
      this.caption = this.box.lastChild;
      this.over.setAttribute("aria-label", `${run.name}, ${title}; described below`);
      this.over.dataset.run = run.number; this.over.dataset.kind = coarse ? "coarse" : "graph";
      this.fingers = new Map();
      this.over.addEventListener("pointermove", (event) => this.onMove(event));
      this.over.addEventListener("pointerleave", () => setHover(null));
      this.over.addEventListener("pointerdown", (event) => this.onDown(event));
      for (const name of ["pointerup", "pointercancel"]) this.over.addEventListener(name, (event) => this.onUp(event));
      this.over.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    }

    get k() { return this.coarse ? Math.min(state.level, this.run.levels.length - 1) : 0; }
    get level() { return this.run.levels[this.k]; }

    resize() {
      const width = this.stage.clientWidth || 300, finest = this.run.levels[0];
      let tall = 0, wide = 0;
      for (let i = 0; i < finest.nodes; i++) { wide = Math.max(wide, finest.places[i]); tall = Math.max(tall, finest.places[finest.nodes + i]); }
      this.extent = [Math.max(wide, 1), Math.max(tall, 1)];
      const most = Math.min(Math.max(window.innerHeight * (runs.length === 1 ? 0.62 : this.coarse ? 0.4 : 0.5), 240), 640);
      const height = Math.round(Math.min(Math.max((width * this.extent[1]) / this.extent[0], 200), most));
      this.stage.style.height = `${height}px`;
      this.size = [width, height];
      this.ratio = Math.min(window.devicePixelRatio || 1, 2);
      for (const canvas of [this.edges, this.nodes, this.over]) { canvas.width = width * this.ratio; canvas.height = height * this.ratio; }
      this.place();
    }

    place() {
      const [width, height] = this.size, margin = 18, zoom = state.zoom, level = this.level;
      const scale = Math.min((width - 2 * margin) / this.extent[0], (height - 2 * margin) / this.extent[1]) * zoom.k;
      const left = width / 2 - zoom.x * this.extent[0] * scale, bottom = height / 2 + zoom.y * this.extent[1] * scale;
      this.x = new Float32Array(level.nodes); this.y = new Float32Array(level.nodes); this.r = new Float32Array(level.nodes);
      const area = (this.extent[0] * scale * this.extent[1] * scale) / Math.max(level.nodes, 1);
      const most = level.members.reduce((a, b) => Math.max(a, b), 1);
      const base = Math.min(Math.max(0.3 * Math.sqrt(area), 1.6), this.coarse ? 20 : 9);
      for (let i = 0; i < level.nodes; i++) {
        this.x[i] = left + level.places[i] * scale;
        this.y[i] = bottom - level.places[level.nodes + i] * scale;
        this.r[i] = this.coarse ? Math.max(base * Math.sqrt(level.members[i] / most), 2.5) : base;
      }
      this.box.classList.toggle("zoomed", zoom.k > 1);
      this.drawEdges();
      this.drawNodes();
      this.drawOver();
    }

    context(canvas) {
      const context = canvas.getContext("2d");
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      context.clearRect(0, 0, ...this.size);
      return context;
    }

    drawEdges() {
      const context = this.context(this.edges), { edges } = this.level, count = edges.length / 2;
      context.strokeStyle = scheme.edge;
      context.globalAlpha = count > 6000 ? 0.3 : 0.55;
      context.lineWidth = count > 2000 ? 0.5 : 1;
      context.beginPath();
      for (let e = 0; e < count; e++) {
        const a = edges[e], b = edges[count + e];
        context.moveTo(this.x[a], this.y[a]);
        context.lineTo(this.x[b], this.y[b]);
      }
      context.stroke();
    }

    // Nodes of one colour are one path: with thousands of nodes this is what keeps stepping smooth.
    drawNodes() {
      const context = this.context(this.nodes), field = this.run.byKey[state.field], level = this.level;
      const values = field ? valuesOf(this.run, state.field, this.k, frameOf(this.run)) : null;
      this.values = values;
      const buckets = Array.from({ length: COLOURS + 1 }, () => []);
      for (let i = 0; i < level.nodes; i++) buckets[values ? colourNumber(field, values[i]) + 1 : 0].push(i);
      const colours = field && field.diverging ? scheme.diverging : scheme.plain;
      const outlined = this.r.length && this.r[0] > 3.2;
      context.lineWidth = 0.8;
      context.strokeStyle = scheme.dark ? "rgba(255,255,255,0.55)" : "rgba(0,0,0,0.45)";
      buckets.forEach((bucket, number) => {
        if (!bucket.length) return;
        context.fillStyle = number ? colours[number - 1] : scheme.none;
        context.beginPath();
        for (const i of bucket) {
          const r = this.r[i];
          if (r < 2.4) context.rect(this.x[i] - r, this.y[i] - r, 2 * r, 2 * r);
          else { context.moveTo(this.x[i] + r, this.y[i]); context.arc(this.x[i], this.y[i], r, 0, 2 * Math.PI); }
        }
        context.fill();
        if (outlined) context.stroke();
      });
      this.drawSources(context);
    }

    // Where distances start: in a square.
    drawSources(context) {
      if (this.coarse || !hops) return;
      context.strokeStyle = scheme.ink; context.lineWidth = 2;
      for (let i = 0; i < page.nodes; i++) {
        const r = this.r[i] + 4;
        if (hops[i] === 0) context.strokeRect(this.x[i] - r, this.y[i] - r, 2 * r, 2 * r);
      }
    }

    ring(context, i, gap) {
      context.beginPath();
      context.arc(this.x[i], this.y[i], this.r[i] + gap, 0, 2 * Math.PI);
      context.stroke();
    }

    drawOver() {
      const context = this.context(this.over), focus = state.hover || (state.node === null ? null : { run: this.run, k: 0, node: state.node });
      const influence = state.field.startsWith("influence") ? page.chosen[Number(state.field.slice(9))] : undefined;
      if (influence !== undefined && !this.coarse) { context.strokeStyle = scheme.mark; context.lineWidth = 2.5; this.ring(context, influence, 5); }
      this.lit = [];
      if (focus) this.drawFocus(context, focus);
      if (state.node !== null) {
        context.strokeStyle = scheme.accent; context.lineWidth = 3;
        if (this.k === 0) this.ring(context, state.node, 3.5);
      }
    }

    // Lights a node with its cluster, or a cluster with its members; in other runs by the nodes of the graph.
    drawFocus(context, focus) {
      const inside = (level) => level.of;
      let nodes;
      if (focus.k === 0) nodes = [focus.node];
      else nodes = range(page.nodes).filter((i) => inside(focus.run.levels[focus.k])[i] === focus.node);
      const shown = this.k === 0 ? nodes : [...new Set(nodes.map((i) => this.level.of[i]))];
      context.strokeStyle = scheme.ink; context.lineWidth = 2;
      if (focus.k === 0 && this.k === 0 && this.run.levels.length > 1) {
        const clusters = this.run.levels[Math.min(state.level, this.run.levels.length - 1)].of;
        context.globalAlpha = 0.5; context.lineWidth = 1.2;
        const mates = range(page.nodes).filter((i) => clusters[i] === clusters[focus.node]);
        for (const i of mates) this.ring(context, i, 1.5);
        this.lit = mates;
        context.globalAlpha = 1; context.lineWidth = 2.5;
      }
      for (const i of shown) this.ring(context, i, 2);
      this.lit = [...new Set([...this.lit, ...shown])];
    }

    find(event) {
      const box = this.over.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
      let best = -1, nearest = Infinity;
      for (let i = 0; i < this.x.length; i++) {
        const away = Math.hypot(this.x[i] - px, this.y[i] - py) - this.r[i];
        if (away < nearest) { nearest = away; best = i; }
      }
      return nearest < 10 ? best : -1;
    }

    onMove(event) {
      if (this.fingers.has(event.pointerId)) {
        const before = this.fingers.get(event.pointerId), now = [event.clientX, event.clientY];
        const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        this.fingers.set(event.pointerId, now);
        if (others.length === 1) {
          const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
          this.dragged = true;
          zoomBy(far(now, others[0]) / Math.max(far(before, others[0]), 1));
          return;
        }
        if (Math.hypot(now[0] - this.start[0], now[1] - this.start[1]) > 5 && state.zoom.k > 1) {
          this.dragged = true;
          this.panBy(now[0] - before[0], now[1] - before[1]);
          return;
        }
      }
      const node = this.find(event);
      setHover(node < 0 ? null : { run: this.run, k: this.k, node });
    }

    panBy(dx, dy) {
      const [width, height] = this.size, zoom = state.zoom;
      const scale = Math.min((width - 36) / this.extent[0], (height - 36) / this.extent[1]) * zoom.k;
      zoom.x = Math.min(Math.max(zoom.x - dx / (this.extent[0] * scale), 0), 1);
      zoom.y = Math.min(Math.max(zoom.y + dy / (this.extent[1] * scale), 0), 1);
      panes.forEach((pane) => pane.place());
    }

    onDown(event) {
      this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
      this.start = [event.clientX, event.clientY];
      this.dragged = false;
      if (state.zoom.k > 1) this.over.setPointerCapture(event.pointerId);
    }

    onUp(event) {
      const held = this.fingers.delete(event.pointerId);
      if (!held || this.dragged || event.type === "pointercancel") return;
      const found = this.find(event);
      if (this.k === 0) choose(found < 0 ? null : found);
      else if (found >= 0) choose(this.run.levels[this.k].of.indexOf(found));
      else choose(null);
    }

    onWheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;  // the page scrolls
      event.preventDefault();
      zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2);
    }

    describe() {
      const frame = frameOf(this.run), field = this.run.byKey[state.field], parts = [];
      const what = this.coarse ? `Level ${this.k}, ${this.level.nodes} clusters` : `${this.level.nodes.toLocaleString("en")} nodes`;
      if (!field) { this.caption.textContent = `${what}. This model has no ${titleOf(state.field)}.`; return; }
      const known = this.values ? Array.from(this.values).filter((value) => !Number.isNaN(value)) : [];
      const format = ["prediction", "error"].includes(state.field) ? withUnit : show;
      if (known.length) {
        const low = known.reduce((a, b) => Math.min(a, b)), high = known.reduce((a, b) => Math.max(a, b));
        parts.push(`${field.title} from ${show(low)} to ${format(high)}, mean ${show(known.reduce((a, b) => a + b, 0) / known.length)}`);
      } else parts.push(`no ${field.title} ${frame === 0 ? "at the first frame" : "here"}`);
      const hover = state.hover;
      let text = `${what}: ${parts.join("; ")}.`;
      if (hover && hover.run === this.run && hover.k === this.k) {
        const members = this.k ? ` of ${this.level.members[hover.node]} nodes` : "";
        text = `${this.k ? "Cluster" : "Node"} ${hover.node}${members}: ${field.title} ${format(this.values ? this.values[hover.node] : NaN)}.`;
      }
      this.caption.textContent = text;
    }
  }

  const range = (count) => Array.from({ length: count }, (_, i) => i);
  function titleOf(key) {
    for (const run of runs) if (run.byKey[key]) return run.byKey[key].title;
    return key;
  }

  // ---- charts -------------------------------------------------------------------------------------------------------

  // Draws lines over a common axis; `lines` have a name, xs, ys and the number of their run.
  function chart(box, { lines, xLabel, yLabel, log, shade, cursors = [], level, label }) {
    const width = Math.max(box.clientWidth, 240), height = 220, [left, right, top, bottom] = [58, 10, 10, 34];
    const known = lines.map((line) => ({ ...line, points: line.xs.map((x, i) => [x, line.ys[i]]).filter(([, y]) => y !== null && !Number.isNaN(y) && (!log || y > 0)) }));
    const xs = known.flatMap((line) => line.xs), ys = known.flatMap((line) => line.points.map(([, y]) => y)).concat(level === undefined || level === null || Number.isNaN(level) ? [] : [level]);
    if (!ys.length) { box.innerHTML = ""; return; }
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    if (x1 === x0) { x0 -= 0.5; x1 += 0.5; }
    if (log) { y0 = Math.max(y0, y1 * 1e-7); y0 = Math.log10(y0); y1 = Math.log10(y1); if (y1 - y0 < 1) { y0 -= 0.5; y1 += 0.5; } }
    else { const pad = (y1 - y0) * 0.08 || 0.5; y0 -= pad; y1 += pad; }
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
    const py = (y) => height - bottom - ((Math.max(log ? Math.log10(y) : y, y0) - y0) / (y1 - y0)) * (height - top - bottom);
    const parts = [];
    if (shade !== undefined && shade !== null && shade >= x0) {
      const end = Math.min(px(shade), width - right);
      parts.push(`<rect class="shade" x="${left}" y="${top}" width="${Math.max(end - left, 0)}" height="${height - top - bottom}"></rect><text x="${left + 4}" y="${top + 12}">trained</text>`);
    }
    for (const tick of yTicks(y0, y1, log)) parts.push(`<line class="axis" x1="${left}" x2="${width - right}" y1="${py(tick)}" y2="${py(tick)}"></line><text x="${left - 5}" y="${py(tick) + 4}" text-anchor="end">${show(tick)}</text>`);
    for (const tick of niceTicks(x0, x1, 6).filter(Number.isInteger)) parts.push(`<text x="${px(tick)}" y="${height - bottom + 14}" text-anchor="middle">${tick}</text>`);
    parts.push(`<text x="${(left + width - right) / 2}" y="${height - 4}" text-anchor="middle">${escaped(xLabel)}</text><text transform="rotate(-90)" x="${-(height - bottom) / 2}" y="11" text-anchor="middle">${escaped(yLabel)}</text>`);
    if (level !== undefined && level !== null && !Number.isNaN(level)) parts.push(`<line class="target" x1="${left}" x2="${width - right}" y1="${py(level)}" y2="${py(level)}"></line>`);
    for (const at of cursors) parts.push(`<line class="cursor" x1="${px(at)}" x2="${px(at)}" y1="${top}" y2="${height - bottom}"></line>`);
    for (const line of known) {
      const colour = `var(--run${line.run})`, path = line.points.map(([x, y], i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
      parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${RUN_DASH[line.run]}"></path>`);
      if (line.points.length <= 40) for (const [x, y] of line.points) parts.push(line.run ? `<rect x="${px(x) - 3}" y="${py(y) - 3}" width="6" height="6" fill="${colour}"></rect>` : `<circle cx="${px(x)}" cy="${py(y)}" r="3" fill="${colour}"></circle>`);
    }
    box.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">${parts.join("")}</svg>`;
  }

  function niceTicks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((m) => m * power >= rough) * power;
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) ticks.push(Number(tick.toPrecision(10)));
    return ticks;
  }

  function yTicks(low, high, log) {
    if (!log) return niceTicks(low, high, 5);
    const powers = range(Math.floor(high) - Math.ceil(low) + 1).map((i) => Math.ceil(low) + i);
    const every = Math.max(1, Math.ceil(powers.length / 6));
    const ticks = powers.filter((_, i) => i % every === 0).map((power) => 10 ** power);
    return ticks.length > 1 ? ticks : niceTicks(10 ** low, 10 ** high, 4).filter((tick) => tick > 0);
  }

  function drawDistance() {
    const shown = runs.filter((run) => run.byDistance);
    byId("distance-box").hidden = !shown.length;
    if (!shown.length) return;
    const lines = shown.map((run) => ({ run: run.number, xs: run.byDistance.hops, ys: run.byDistance.error[frameOf(run)] }));
    chart(byId("distance-chart"), { lines, xLabel: "distance in hops", yLabel: `mean error${page.task.unit ? `, ${page.task.unit}` : ""}`, log: true, shade: page.inRange, label: "Mean error at every distance" });
    const mean = (run, inside) => {
      const { hops: at, count, error } = run.byDistance, row = error[frameOf(run)];
      let total = 0, nodes = 0;
      at.forEach((hop, i) => { if (inside(hop) && row[i] !== null) { total += row[i] * count[i]; nodes += count[i]; } });
      return nodes ? total / nodes : NaN;
    };
    byId("distance-text").textContent = shown.map((run) => page.inRange === null ? `${run.name}: ${withUnit(mean(run, () => true))}.`
      : `${run.name}: ${withUnit(mean(run, (hop) => hop <= page.inRange))} up to ${page.inRange} hops as in training, ${withUnit(mean(run, (hop) => hop > page.inRange))} beyond.`).join(" ");
  }

  function drawChange() {
    const shown = runs.filter((run) => run.frames.length > 1), box = byId("change-box");
    box.hidden = !shown.length;
    if (!shown.length) return;
    const rows = shown.map((run) => (run.moved.some((value) => value > 0) ? run.moved : run.changes));
    const lines = shown.map((run, i) => ({ run: run.number, xs: run.frames.map((frame) => frame.update), ys: rows[i] }));
    const unit = shown.every((run) => run.unit === shown[0].unit) ? `${shown[0].unit}s` : "updates or layers";
    const marks = [...new Set(shown.map((run) => run.trained))];
    chart(byId("change-chart"), { lines, xLabel: unit, yLabel: "mean change", log: true, shade: marks.length === 1 || runs.length === 1 ? Math.min(marks[0], shown[0].total) : null, cursors: [timeline[state.position]], label: "Mean change of the predictions at every frame" });
    byId("change-text").textContent = shown.map((run, i) => {
      const known = rows[i].filter((value) => value !== null), last = known[known.length - 1], most = known.reduce((a, b) => Math.max(a, b), 0);
      if (!(most > 0)) return `${run.name}: nothing changes.`;
      if (known.filter((value) => value > 0).length === 1) return `${run.name}: predictions change once, by ${show(most)}.`;
      const part = last / most, verdict = part <= 0.01 ? "it has settled" : part <= 0.1 ? "it is slowing down" : "it is still changing";
      const now = run.moved[frameOf(run)];
      return `${run.name}: now ${show(now === null ? NaN : now)}, at the end ${show(last)}, which is ${show(100 * part)} % of the most: ${verdict}.`;
    }).join(" ");
  }

  function drawHistory() {
    const node = state.node, ofGraph = page.task.level === "graph" && node === null;
    const key = page.task.level === "graph" ? state.field : "prediction";
    const box = byId("history-chart");
    byId("history-title").textContent = ofGraph ? "Prediction for the graph" : node === null ? "One node" : `Node ${node}`;
    if (node === null && !ofGraph) { box.innerHTML = ""; byId("history-text").textContent = "Click a node, or give its number above, to see its history."; return; }
    const lines = [], texts = [];
    let level = null;
    for (const run of runs) {
      const frame = frameOf(run), series = ofGraph ? run.answer : range(run.frames.length).map((f) => (valuesOf(run, key, 0, f) || [])[node] ?? null);
      lines.push({ run: run.number, xs: run.frames.map((f) => f.update), ys: series });
      const now = series[frame];
      let text = `${run.name}: ${key === "prediction" || ofGraph ? `predicts ${showPrediction(now)}` : `${titleOf(key)} ${show(now)}`} now, ${show(series[series.length - 1])} at the end`;
      const error = ofGraph ? run.error && run.error[frame] : (valuesOf(run, "error", 0, frame) || [])[node];
      if (error !== undefined && error !== null && !Number.isNaN(error)) text += `, error now ${withUnit(error)}`;
      const clusters = run.levels.slice(1).map((other, k) => `cluster ${other.of[node]} of level ${k + 1}`);
      if (!ofGraph && clusters.length) text += `; in ${clusters.join(", ")}`;
      texts.push(`${text}.`);
    }
    const truth = target ? target[ofGraph ? 0 : node] : NaN;
    if ((key === "prediction" || ofGraph) && truth !== undefined && !Number.isNaN(truth)) { level = truth; texts.push(`Dotted: the target, ${showPrediction(truth)}.`); }
    if (hops && node !== null && hops[node] >= 0) texts.push(`${hops[node]} ${hops[node] === 1 ? "hop" : "hops"} away.`);
    chart(box, { lines, xLabel: runs.length === 1 ? `${runs[0].unit}s` : "updates or layers", yLabel: ofGraph ? "prediction" : titleOf(key), log: false, cursors: [timeline[state.position]], level, label: "History" });
    byId("history-text").textContent = texts.join(" ");
  }

  function drawFacts() {
    const labels = [...new Set(runs.flatMap((run) => run.facts.map(([label]) => label)))];
    const rows = labels.map((label) => `<tr><th scope="row">${escaped(label)}</th>${runs.map((run) => `<td>${escaped((run.facts.find(([own]) => own === label) || ["", "–"])[1])}</td>`).join("")}</tr>`);
    const head = runs.length > 1 ? `<thead><tr><th></th>${runs.map((run) => `<th scope="col">${escaped(run.name)}</th>`).join("")}</tr></thead>` : "";
    byId("facts").innerHTML = `<h2>The ${runs.length > 1 ? "models" : "model"}</h2><table>${head}<tbody>${rows.join("")}</tbody></table>`;
  }

  // ---- moving about -------------------------------------------------------------------------------------------------

  function drawFrame() {
    byId("slider").value = state.position;
    byId("frame-label").textContent = `Frame ${state.position + 1} of ${timeline.length}`;
    byId("slider").setAttribute("aria-valuetext", `frame ${state.position + 1} of ${timeline.length}`);
    for (const pane of panes) { pane.drawNodes(); pane.describe(); }
    for (const run of runs) {
      const error = run.error && run.error[frameOf(run)];
      run.status.textContent = `${describeFrame(run)}${error === null || error === undefined ? "" : `; mean error ${withUnit(error)}`}`;
    }
    drawDistance(); drawChange(); drawHistory();
  }

  function go(position) {
    state.position = Math.min(Math.max(position, 0), timeline.length - 1);
    drawFrame();
  }

  let due = 0;
  function tick(now) {
    if (!state.playing) return;
    if (now >= due) {
      due = now + 1000 / Number(byId("speed").value);
      if (state.position + 1 >= timeline.length) { play(false); return; }
      go(state.position + 1);
    }
    requestAnimationFrame(tick);
  }

  function play(on) {
    state.playing = on && timeline.length > 1;
    byId("play-text").textContent = state.playing ? "Pause" : "Play";
    byId("play-icon").setAttribute("d", state.playing ? "M4 3h4v14H4z M12 3h4v14h-4z" : "M5 3v14l11-7z");
    byId("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
    if (!state.playing) return;
    if (state.position + 1 >= timeline.length) go(0);
    due = performance.now() + 1000 / Number(byId("speed").value);
    requestAnimationFrame(tick);
  }

  function setHover(found) {
    const same = state.hover && found && state.hover.node === found.node && state.hover.k === found.k && state.hover.run === found.run;
    if (same || (!state.hover && !found)) return;
    state.hover = found;
    for (const pane of panes) { pane.drawOver(); pane.describe(); }
  }

  function choose(node) {
    state.node = node;
    byId("node").value = node === null ? "" : node;
    for (const pane of panes) pane.drawOver();
    drawHistory();
  }

  function zoomBy(factor) {
    state.zoom.k = Math.min(Math.max(state.zoom.k * factor, 1), 40);
    if (state.zoom.k === 1) { state.zoom.x = 0.5; state.zoom.y = 0.5; }
    panes.forEach((pane) => pane.place());
  }

  function setField(key) {
    state.field = key;
    byId("field").value = key;
    for (const run of runs) drawLegend(run);
    for (const pane of panes) pane.drawOver();
    drawFrame();
  }

  function setLevel(level) {
    state.level = level; state.hover = null;
    byId("level").value = level;
    for (const pane of panes) pane.place();
    drawFrame();
  }

  function drawLegend(run) {
    const field = run.byKey[state.field];
    if (!field) { run.legend.innerHTML = ""; return; }
    const colours = field.diverging ? scheme.diverging : scheme.plain, stops = range(13).map((i) => colours[Math.round((i / 12) * (COLOURS - 1))]);
    const unit = ["prediction", "error"].includes(field.key) ? page.task.unit : "";
    run.legend.innerHTML = `<span>${show(field.span[0])}${field.log ? " or less" : ""}</span><span class="bar" style="background:linear-gradient(90deg,${stops.join(",")})"></span><span>${show(field.span[1])}${unit ? ` ${escaped(unit)}` : ""}${field.log && !field.key.startsWith("influence") ? " or more" : ""}</span><span class="none">${field.key.startsWith("influence") ? "no influence" : "no number"}</span>`;
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    readScheme();
    if (!runs) return;
    for (const run of runs) drawLegend(run);
    for (const pane of panes) pane.place();
    drawFrame();
  }

  function onKey(event) {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT" || (tag === "INPUT" && event.target.type === "number")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const fields = [...byId("field").options].map((option) => option.value), at = fields.indexOf(state.field);
    const levels = byId("level").options.length;
    const actions = {
      " ": () => play(!state.playing), ArrowLeft: () => go(state.position - 1), ArrowRight: () => go(state.position + 1),
      Home: () => go(0), End: () => go(timeline.length - 1), f: () => setField(fields[(at + 1) % fields.length]),
      F: () => setField(fields[(at + fields.length - 1) % fields.length]), l: () => levels && setLevel((state.level % levels) + 1),
      "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => zoomBy(0), d: toggleTheme, Escape: () => choose(null),
    };
    if (!actions[event.key] || (event.key === " " && tag === "BUTTON") || (tag === "SUMMARY" && event.key === " ")) return;
    event.preventDefault();
    actions[event.key]();
  }

  const toggleTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

  // ---- start --------------------------------------------------------------------------------------------------------

  function build() {
    const host = byId("runs");
    host.className = runs.length > 1 ? "two" : "one";
    for (const run of runs) {
      const section = document.createElement("section");
      section.className = "run";
      section.innerHTML = `<h2><span class="swatch" style="background:var(--run${run.number})"></span><span>${escaped(run.name)}</span><small class="status"></small></h2><div class="legend"></div><div class="panes"></div><ul class="notes"></ul>`;
      run.status = section.querySelector(".status");
      run.legend = section.querySelector(".legend");
      const grid = section.querySelector(".panes"), own = [new Pane(run, false)];
      if (run.levels.length > 1) own.push(new Pane(run, true));
      grid.classList.toggle("one", own.length === 1);
      for (const pane of own) { grid.append(pane.box); panes.push(pane); }
      const notes = [...run.notes];
      if (own.length === 1) notes.push("This model has no coarse copy of the graph.");
      section.querySelector(".notes").innerHTML = notes.map((note) => `<li>${escaped(note)}</li>`).join("");
      host.append(section);
    }
    const fields = new Map(runs.flatMap((run) => run.fields.map((field) => [field.key, field.title])));
    byId("field").innerHTML = [...fields].map(([key, title]) => `<option value="${key}">${escaped(title)}</option>`).join("");
    const deepest = runs.reduce((best, run) => (run.levels.length > best.levels.length ? run : best));
    byId("level").innerHTML = deepest.levels.slice(1).map((level, k) => `<option value="${k + 1}">level ${k + 1}, ${level.nodes} nodes</option>`).join("");
    byId("level-label").hidden = deepest.levels.length < 2;
    byId("slider").max = timeline.length - 1;
    byId("node").max = page.nodes - 1;
    const longest = runs.reduce((best, run) => (run.total > best.total ? run : best));
    byId("trained-part").style.width = `${100 * Math.min(longest.trained / longest.total, 1)}%`;
    byId("trained-part").title = "as many as in training";
    byId("subtitle").textContent = `${page.nodes.toLocaleString("en")} nodes, ${page.edges.toLocaleString("en")} edges; predicts ${page.task.name} of ${{ node: "every node", edge: "every edge, shown as means at nodes", graph: "the whole graph" }[page.task.level]}${page.task.unit ? `, in ${page.task.unit}` : ""}.`;
    drawFacts();
  }

  function listen() {
    const click = { first: () => go(0), back: () => go(state.position - 1), play: () => play(!state.playing), forward: () => go(state.position + 1), last: () => go(timeline.length - 1), "zoom-in": () => zoomBy(1.25), "zoom-out": () => zoomBy(0.8), fit: () => zoomBy(0), theme: toggleTheme };
    for (const [id, action] of Object.entries(click)) byId(id).addEventListener("click", action);
    byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
    byId("field").addEventListener("change", (event) => setField(event.target.value));
    byId("level").addEventListener("change", (event) => setLevel(Number(event.target.value)));
    byId("node").addEventListener("input", (event) => {
      const node = event.target.value === "" ? null : Number(event.target.value);
      if (node === null || (Number.isInteger(node) && node >= 0 && node < page.nodes)) { const text = event.target.value; choose(node); event.target.value = text; }
    });
    document.addEventListener("keydown", onKey);
    let waiting = 0, width = document.body.clientWidth;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;  // texts of other lengths change the height alone
      width = document.body.clientWidth;
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => { panes.forEach((pane) => pane.resize()); drawFrame(); });
    }).observe(document.body);
  }

  async function start() {
    const dark = window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)");
    setTheme(dark && dark.matches ? "dark" : "light");
    if (dark) dark.addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
    page = JSON.parse(byId("content").textContent);
    target = await readArray(page.target);
    hops = await readArray(page.hops);
    for (const [number, run] of page.runs.entries()) await readRun(run, number);
    const longest = page.runs.reduce((best, run) => (run.total > best.total ? run : best));
    timeline = longest.frames.map((frame) => frame.update);
    runs = page.runs;
    state.position = timeline.length - 1;
    build();
    listen();
    panes.forEach((pane) => pane.resize());
    setField(byId("field").options.length ? byId("field").options[0].value : "");
    window.ghrView = { state, runs, panes, page, timeline, frameOf, valuesOf };  // for whoever looks in from the console
    document.body.dataset.ready = "yes";
  }

  start().catch((error) => {
    byId("problem").hidden = false;
    byId("problem").textContent = typeof DecompressionStream === "undefined" ? "This browser is too old for this page: it cannot unpack its data. Any browser from 2023 on can." : `The page could not be shown: ${error.message}`;
    console.error(error);
  });
})();
