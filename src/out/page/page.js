/* The page of a plan: draws what src/limit/data.c wrote. uPlot draws the charts, dagre places the
 * nodes of the graph. Texts of the program go into the page as text nodes, never as markup. */
"use strict";
(() => {
  const NAMED = 8; /* tensors with a band and a number of their own; the rest share one band */
  const MOST_NODES = 90; /* of the graph: of a larger program the largest tensors */
  const HOLD = { argument: 0, result: 1, temporary: 2 };

  /* ---- text ---- */
  const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  function bytes(n) {
    let unit = 0;
    for (; n >= 999.5 && unit < 6; unit++) n /= 1000;
    const digits = unit === 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
    return `${n.toFixed(digits)} ${UNITS[unit]}`;
  }
  function duration(ns) {
    const steps = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
    for (const [size, unit] of steps) if (ns >= size) return `${(ns / size).toPrecision(3)} ${unit}`;
    return `${Math.round(ns)} ns`;
  }
  const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  /* ---- elements ---- */
  function element(name, properties = {}, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else e.setAttribute(key, value);
    }
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  }
  function shape(name, properties = {}, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(properties)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  }
  function table(heads, rows) {
    const is_number = heads.map((h) => h.startsWith("#"));
    const cell = (tag, i, content) => element(tag, is_number[i] ? { class: "n" } : {}, content);
    return element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((h, i) => cell("th", i, h.replace("#", ""))))),
      element("tbody", {}, ...rows.map((row) =>
        element("tr", row.attributes ?? {}, ...row.cells.map((c, i) => cell("td", i, c)))))));
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /* ---- who is live when ---- */
  /* Spans of one tensor (one op's result at one line) are one row, whatever step they are in. */
  function tensors_of(program, texts) {
    const by_key = new Map();
    program.spans.forEach(([hold, op, shape_, line, size, from, to]) => {
      const key = hold === HOLD.temporary ? [op, shape_, line, size].join() : `h${hold}`;
      let t = by_key.get(key);
      if (!t) {
        t = { hold, op: texts[op], shape: texts[shape_], line: texts[line], size, spans: [], most: 0 };
        if (hold === HOLD.argument) Object.assign(t, { op: "arguments", shape: "", line: "" });
        if (hold === HOLD.result) Object.assign(t, { op: "results", shape: "", line: "" });
        by_key.set(key, t);
      }
      t.spans.push({ size, from, to });
    });
    return [...by_key.values()];
  }

  /* By step, how many bytes the spans hold. */
  function levels(spans, steps) {
    const change = new Float64Array(steps + 1);
    for (const s of spans) {
      change[s.from] += s.size;
      change[s.to + 1] -= s.size;
    }
    const level = new Array(steps);
    let held = 0;
    for (let i = 0; i < steps; i++) level[i] = held = Math.max(0, held + change[i]);
    return level;
  }

  /* The most that spans hold at once, and the sum over all steps. */
  function extent_of(spans) {
    const events = spans.flatMap((s) => [[s.from, s.size], [s.to + 1, -s.size]]);
    events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let held = 0, most = 0, area = 0;
    for (const s of spans) area += s.size * (s.to - s.from + 1);
    for (const [, change] of events) most = Math.max(most, held += change);
    return { most, area };
  }

  /* Bands from the bottom up: results, arguments, small tensors, then the largest, number 1 on top. */
  function bands_of(program, texts) {
    const steps = program.steps.length;
    const all = tensors_of(program, texts);
    for (const t of all) Object.assign(t, extent_of(t.spans));
    const temporaries = all.filter((t) => t.hold === HOLD.temporary)
      .sort((a, b) => b.most - a.most || b.area - a.area);
    const named = temporaries.slice(0, NAMED), rest = temporaries.slice(NAMED), bands = [];
    named.forEach((t, i) => Object.assign(t, { mark: `${i + 1}`, colour: `--t${i}` }));
    for (const [hold, mark, name] of [[HOLD.result, "R", "--results"], [HOLD.argument, "A", "--args"]])
      bands.push(...all.filter((t) => t.hold === hold).map((t) => Object.assign(t, { mark, colour: name })));
    if (rest.length) {
      const spans = rest.flatMap((t) => t.spans);
      bands.push({ mark: "…", colour: "--rest", op: `${rest.length} smaller`, shape: "", line: "", spans,
        ...extent_of(spans) });
    }
    bands.push(...named.reverse());
    for (const b of bands) b.level = levels(b.spans, steps);
    return bands;
  }

  /* ---- the chart of memory ---- */
  function stacked(bands, steps) {
    const sums = [];
    let below = new Array(steps).fill(0);
    for (const b of bands) sums.push((below = below.map((x, i) => x + b.level[i])));
    return sums;
  }

  function loop_ranges(program) {
    const ranges = [];
    program.steps.forEach(([, , depth], i) => {
      const last = ranges[ranges.length - 1];
      if (depth < 1) return;
      if (last && last.to === i - 1) last.to = i;
      else ranges.push({ from: i, to: i });
    });
    return ranges;
  }

  /* Where a band is thickest: there its number stands. */
  function thickest(level, from, to) {
    let best = from;
    for (let i = from; i <= to; i++) if (level[i] > level[best]) best = i;
    let end = best;
    while (end < to && level[end + 1] === level[best]) end++;
    return [best, end];
  }

  function tooltip(chart, program, bands, texts, sums) {
    const tip = element("div", { class: "tip", role: "status", hidden: "" });
    const mark = (b) => element("span", { class: "mark", style: `background: var(${b.colour})` }, b.mark);
    return {
      element: tip,
      update(u) {
        const { idx, left, top } = u.cursor;
        tip.hidden = idx === null || idx === undefined || left < 0;
        if (tip.hidden) return;
        const step = Math.min(idx, program.steps.length - 1);
        const [op, line, depth] = program.steps[step];
        const at = u.posToVal(top, "y");
        let under = bands.findIndex((_, i) => sums[i][step] >= at);
        if (at < 0) under = -1;
        const live = bands.map((b, i) => ({ b, i, size: b.level[step] })).filter((x) => x.size > 0)
          .sort((x, y) => y.size - x.size);
        const shown = live.slice(0, 7);
        if (under >= 0 && bands[under].level[step] > 0 && !shown.some((x) => x.i === under))
          shown.push(live.find((x) => x.i === under));
        const rows = shown.map(({ b, i, size }) => ({
          attributes: i === under ? { class: "is-under" } : {},
          cells: [mark(b), bytes(size), `${b.op} ${b.shape}`, b.line] }));
        tip.replaceChildren(
          element("b", {}, `${texts[op]}${texts[line] ? `, ${texts[line]}` : ""}`),
          element("div", { class: "faint" }, `step ${step + 1} of ${program.steps.length}` +
            `${depth ? ", in a loop" : ""}: ${bytes(sums.length ? sums[sums.length - 1][step] : 0)} live`),
          table(["", "#", "", ""], rows));
        const over = u.over, right = left > over.clientWidth / 2;
        const x = over.offsetLeft + left, room = chart.clientWidth;
        tip.style.left = right ? "auto" : `${Math.min(x + 16, room - 60)}px`;
        tip.style.right = right ? `${Math.max(0, room - x + 16)}px` : "auto";
        tip.style.top = `${over.offsetTop + 6}px`;
      },
    };
  }

  function draw_loops(u, ranges) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const r of ranges) {
      const x0 = Math.max(u.valToPos(r.from, "x", true), bbox.left);
      const x1 = Math.min(u.valToPos(r.to + 1, "x", true), bbox.left + bbox.width);
      if (x1 <= x0) continue;
      ctx.fillStyle = colour("--loop");
      ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
      if (x1 - x0 < 40 * devicePixelRatio) continue;
      ctx.fillStyle = colour("--accent");
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textBaseline = "top";
      ctx.fillText("loop", x0 + 5 * devicePixelRatio, bbox.top + 4 * devicePixelRatio);
    }
    ctx.restore();
  }

  function draw_marks(u, bands, sums) {
    const { ctx } = u;
    const from = Math.max(0, Math.ceil(u.scales.x.min)), to = Math.min(sums[0].length - 1, Math.floor(u.scales.x.max));
    ctx.save();
    ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    bands.forEach((b, i) => {
      if (from > to) return;
      const [start, end] = thickest(b.level, from, to);
      const at = Math.floor((start + end) / 2), above = sums[i][at];
      const top = u.valToPos(above, "y", true), bottom = u.valToPos(above - b.level[at], "y", true);
      const x = u.valToPos(at + 0.5, "x", true);
      const is_thin = u.valToPos(end + 1, "x", true) - u.valToPos(start, "x", true) < 9 * devicePixelRatio;
      if (b.level[start] <= 0 || bottom - top < 12 * devicePixelRatio || is_thin) return;
      ctx.fillStyle = "#fff";
      ctx.strokeStyle = "rgba(0,0,0,.55)";
      ctx.lineWidth = 2.5 * devicePixelRatio;
      ctx.strokeText(b.mark, x, (top + bottom) / 2);
      ctx.fillText(b.mark, x, (top + bottom) / 2);
    });
    ctx.restore();
  }

  function draw_level(u, value, text) {
    if (!value || value > u.scales.y.max) return;
    const { ctx, bbox } = u, y = u.valToPos(value, "y", true), px = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--bad");
    ctx.lineWidth = 1.5 * px;
    ctx.setLineDash([7 * px, 4 * px]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `${11 * px}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    const above = y - bbox.top > 16 * px;
    ctx.textBaseline = above ? "bottom" : "top";
    const at = [text, bbox.left + bbox.width - 5 * px, y + (above ? -3 : 3) * px];
    ctx.setLineDash([]); /* a halo: bands may be of any colour */
    ctx.strokeStyle = colour("--ground");
    ctx.lineWidth = 3 * px;
    ctx.lineJoin = "round";
    ctx.strokeText(...at);
    ctx.fillText(...at);
    ctx.restore();
  }

  const axis_style = () => ({
    stroke: colour("--faint"), font: "12px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } });

  function memory_chart(place, program, texts, limit, most) {
    const bands = bands_of(program, texts);
    const steps = program.steps.length, sums = stacked(bands, steps);
    const top = sums.length ? sums[sums.length - 1].reduce((a, b) => Math.max(a, b), 1) : 1;
    const chart = element("div", { class: "chart", tabindex: "0", role: "img",
      "aria-label": `Memory over ${steps} steps, ${program.when}: at most ${bytes(program.peak.total)}` });
    place.append(chart);
    const tip = tooltip(chart, program, bands, texts, sums), ranges = loop_ranges(program);
    const xs = Array.from({ length: steps + 1 }, (_, i) => i);
    const padded = sums.map((s) => [...s, s[steps - 1]]).reverse();
    const series = [...bands].reverse().map((b) => ({
      label: `${b.mark} ${b.op}`, stroke: colour(b.colour), fill: colour(b.colour), width: 0.5,
      points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }));
    const ceiling = Math.max(most ?? top, limit && limit < 1.6 * top ? limit : 0) * 1.06;
    const u = new uPlot({
      width: Math.max(240, place.clientWidth), height: 250,
      legend: { show: false }, cursor: { points: { show: false }, drag: { x: true, y: false, dist: 4 } },
      scales: { x: { time: false, range: (_, a, b) => [a, b] }, y: { range: () => [0, ceiling] } },
      axes: [
        { ...axis_style(), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000],
          grid: { show: false } },
        { ...axis_style(), size: 68, values: (_, ticks) => ticks.map(bytes) }],
      series: [{}, ...series],
      hooks: {
        drawClear: [(u_) => draw_loops(u_, ranges)],
        draw: [(u_) => { if (sums.length) draw_marks(u_, bands, sums); draw_level(u_, limit, `limit ${bytes(limit)}`); }],
        setCursor: [(u_) => tip.update(u_)] },
    }, [xs, ...padded], chart);
    chart.append(tip.element);
    chart.addEventListener("keydown", (e) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!by) return;
      const to = Math.min(steps - 1, Math.max(0, (u.cursor.idx ?? -1) + by));
      u.setCursor({ left: u.valToPos(to + 0.5, "x"), top: u.bbox.height / devicePixelRatio / 2 });
      e.preventDefault();
    });
    return { u, bands, reset: () => u.setScale("x", { min: 0, max: steps }) };
  }

  function tensor_table(chart) {
    const rows = [...chart.bands].reverse().map((b) => ({ cells: [
      element("span", { class: "mark", style: `background: var(${b.colour})` }, b.mark),
      bytes(b.most), b.op, b.shape, b.line] }));
    return table(["", "#at most", "tensor", "shape", "source line"], rows);
  }

  function memory_section(plan, place) {
    const charts = [];
    let is_same = false;
    const box = element("div");
    const draw = () => {
      charts.splice(0).forEach((c) => c.u.destroy());
      box.replaceChildren();
      const most = is_same ? Math.max(...plan.programs.map((p) => p.peak.total)) : undefined;
      for (const p of plan.programs) {
        const part = element("div");
        box.append(part);
        part.append(element("div", { class: "bar" },
          element("h3", {}, p.when === "before" ? "Before: as the program came" : "After: as weir has it run"),
          element("span", { class: "faint" }, peak_text(p, plan))));
        const chart = memory_chart(part, p, plan.texts, plan.limit, most);
        charts.push(chart);
        part.append(tensor_table(chart));
      }
    };
    const same = element("button", { type: "button", "aria-pressed": "false", onclick: () => {
      is_same = !is_same;
      same.setAttribute("aria-pressed", is_same);
      draw();
    } }, "Same scale");
    const whole = element("button", { type: "button", onclick: () => charts.forEach((c) => c.reset()) }, "Whole schedule");
    place.append(
      element("h2", {}, "Memory over the schedule"),
      element("p", { class: "faint" }, "From left to right the ops as XLA runs them, a trip of each loop for all of them. " +
        "Drag to look closer, double-click to see all. Numbers in the bands are those of the tables."),
      element("div", { class: "bar" }, plan.programs.length > 1 ? same : null, whole), box);
    draw();
    return { draw, charts };
  }

  function peak_text(p, plan) {
    const reported = p.when === "before" ? plan.peak_before : plan.peak_after;
    const is_estimate = p.when === "before" ? plan.before_is_estimate : plan.after_is_estimate;
    const xla = !is_estimate && reported ? `; XLA reports ${bytes(reported)}` : "";
    return `peak ${bytes(p.peak.total)} by weir's estimate: arguments ${bytes(p.peak.arguments)}, ` +
      `results ${bytes(p.peak.results)}, temporaries ${bytes(p.peak.temporaries)}${xla}`;
  }

  /* ---- the graph ---- */
  /* Of a large program the nodes with the largest tensors; a path through others is an edge. */
  function contracted(graph) {
    const { nodes, edges } = graph;
    if (nodes.length <= MOST_NODES) return { kept: nodes.map((_, i) => i), edges };
    const order = nodes.map((_, i) => i).sort((a, b) => nodes[b][4] - nodes[a][4] || a - b);
    const results = nodes.findIndex((n) => n[0] === 4);
    const kept = new Set([...order.slice(0, MOST_NODES - 1), results].filter((i) => i >= 0));
    const into = nodes.map(() => []);
    for (const [from, to, next] of edges) if (!next) into[to].push(from);
    const sources = nodes.map((_, i) => (kept.has(i) ? [i] : null));
    for (let i = 0; i < nodes.length; i++)
      if (!sources[i]) sources[i] = [...new Set(into[i].flatMap((f) => sources[f] ?? []))].slice(0, 3);
    const found = new Map();
    for (const [from, to, next] of edges)
      if (kept.has(to)) for (const f of sources[from] ?? []) if (f !== to) found.set(`${f},${to}`, [f, to, next]);
    return { kept: [...kept].sort((a, b) => a - b), edges: [...found.values()] };
  }

  function clipped(text, room) {
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
  }

  function laid_out(program, texts) {
    const { kept, edges } = contracted(program.graph);
    const g = new dagre.graphlib.Graph({ compound: true, multigraph: false });
    g.setGraph({ nodesep: 18, ranksep: 34, marginx: 16, marginy: 16 }).setDefaultEdgeLabel(() => ({}));
    const boxes = new Set();
    for (const i of kept) {
      const [kind, op, shape_, line, size, box] = program.graph.nodes[i];
      const lines = [texts[op], clipped(texts[shape_].replaceAll("\n", ", "), 34),
        [size ? bytes(size) : "", texts[line]].filter(Boolean).join("  ")].filter(Boolean);
      const width = Math.max(70, 7 * Math.max(...lines.map((l) => l.length)) + 18);
      g.setNode(`n${i}`, { kind, lines, size, width, height: 16 * lines.length + 12, index: i });
      for (let b = box; b; b = program.graph.boxes[b - 1][2]) boxes.add(b);
      if (box) g.setNode(`b${box}`, g.node(`b${box}`) ?? {});
      if (box) g.setParent(`n${i}`, `b${box}`);
    }
    for (const b of boxes) {
      const [label, line, around] = program.graph.boxes[b - 1];
      g.setNode(`b${b}`, { label: [texts[label], texts[line]].filter(Boolean).join("  "), is_box: true });
      if (around) {
        if (!g.hasNode(`b${around}`)) g.setNode(`b${around}`, {});
        g.setParent(`b${b}`, `b${around}`);
      }
    }
    for (const [from, to, next] of edges) if (!next) g.setEdge(`n${from}`, `n${to}`);
    dagre.layout(g);
    return { g, next: edges.filter((e) => e[2]), hidden: program.graph.nodes.length - kept.length };
  }

  function draw_node(n, largest) {
    const x = n.x - n.width / 2, y = n.y - n.height / 2, share = largest ? n.size / largest : 0;
    const group = shape("g", { class: `node${share >= 0.125 ? " is-large" : ""}`, "data-node": n.index },
      shape("rect", { class: "frame", x, y, width: n.width, height: n.height, rx: n.kind === 0 ? 3 : 12 }),
      shape("rect", { class: "fill", x, y: y + n.height - 4, width: n.width * Math.min(1, share), height: 4 }),
      shape("title", {}, n.lines.join("\n")));
    n.lines.forEach((l, i) => group.append(shape("text",
      { x: x + 9, y: y + 18 + 16 * i, class: i ? "small" : "" }, l)));
    return group;
  }

  function path_of(points) {
    return points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)},${p.y.toFixed(1)}`).join("");
  }

  function draw_graph(svg, program, texts) {
    const { g, next, hidden } = laid_out(program, texts);
    const size = g.graph(), canvas = shape("g");
    const largest = program.graph.nodes.reduce((a, n) => Math.max(a, n[4]), 0);
    const nodes = g.nodes().map((id) => g.node(id));
    for (const n of nodes.filter((x) => x.is_box)) {
      const x = n.x - n.width / 2, y = n.y - n.height / 2;
      canvas.append(shape("g", { class: "box" },
        shape("rect", { x, y, width: n.width, height: n.height, rx: 10 }),
        shape("text", { x: x + 10, y: y + 15 }, n.label)));
    }
    for (const e of g.edges()) canvas.append(shape("path", { d: path_of(g.edge(e).points), "marker-end": "url(#arrow)" }));
    for (const [from, to] of next) {
      const a = g.node(`n${from}`), b = g.node(`n${to}`);
      if (a && b) canvas.append(shape("path", { class: "is-next", "marker-end": "url(#arrow)",
        d: `M${a.x - a.width / 2},${a.y}C${a.x - a.width / 2 - 60},${a.y} ${b.x - b.width / 2 - 60},${b.y} ${b.x - b.width / 2},${b.y}` }));
    }
    for (const n of nodes.filter((x) => x.lines)) canvas.append(draw_node(n, largest));
    svg.replaceChildren(shape("defs", {}, shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 7, markerHeight: 7, orient: "auto" }, shape("path", { d: "M0,0L8,4L0,8Z" }))), canvas);
    const named = nodes.filter((x) => x.lines && x.kind === 0);
    const focus = named.reduce((a, n) => (n.size > (a?.size ?? -1) ? n : a), null);
    return { width: size.width || 100, height: size.height || 100, hidden, focus };
  }

  /* Wheel and buttons zoom, dragging moves. */
  function zoomable(svg) {
    let view = { x: 0, y: 0, w: 100, h: 100 }, size = { width: 100, height: 100 };
    const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    const zoom = (by, cx = 0.5, cy = 0.5) => {
      const w = Math.min(Math.max(view.w * by, 60), 4 * Math.max(size.width, size.height) + 400), h = view.h * (w / view.w);
      view = { x: view.x + (view.w - w) * cx, y: view.y + (view.h - h) * cy, w, h };
      apply();
    };
    /* All of it, but no smaller than can be read: then what is around its largest tensor. */
    const fit = (whole = false) => {
      const ratio = svg.clientHeight / Math.max(1, svg.clientWidth);
      const w = Math.max(size.width, size.height / ratio, svg.clientWidth * 0.8);
      const readable = whole ? w : Math.min(w, svg.clientWidth * 1.5);
      const h = readable * ratio, focus = w > readable && size.focus;
      view = { w: readable, h, x: (focus ? focus.x : size.width / 2) - readable / 2, y: (focus ? focus.y : size.height / 2) - h / 2 };
      apply();
    };
    svg.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !svg.matches(":focus")) return; /* the page scrolls, unless the graph was clicked */
      e.preventDefault();
      const r = svg.getBoundingClientRect();
      zoom(e.deltaY > 0 ? 1.15 : 1 / 1.15, (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
    }, { passive: false });
    let from = null;
    svg.addEventListener("pointerdown", (e) => {
      from = { x: e.clientX, y: e.clientY, view };
      svg.setPointerCapture(e.pointerId);
      svg.classList.add("is-dragged");
    });
    svg.addEventListener("pointermove", (e) => {
      if (!from) return;
      const scale = view.w / svg.clientWidth;
      view = { ...view, x: from.view.x - (e.clientX - from.x) * scale, y: from.view.y - (e.clientY - from.y) * scale };
      apply();
    });
    const end = () => { from = null; svg.classList.remove("is-dragged"); };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
    svg.addEventListener("keydown", (e) => {
      const by = { "+": 1 / 1.3, "-": 1.3 }[e.key];
      if (by) zoom(by);
      if (e.key === "0") fit(true);
    });
    return { zoom, fit, show(s) { size = s; fit(); } };
  }

  function graph_section(plan, place) {
    const svg = shape("svg", { tabindex: "0", role: "img", "aria-label": "The program as a graph" });
    const view = zoomable(svg), note = element("p", { class: "faint", role: "status" });
    const drawn = element("div", { class: "graph" }, svg);
    const tabs = plan.programs.map((p, i) => element("button", { type: "button", onclick: () => show(i) },
      p.when === "before" ? "Before" : "After"));
    const show = (i) => {
      tabs.forEach((t, k) => t.setAttribute("aria-pressed", k === i));
      const p = plan.programs[i], found = draw_graph(svg, p, plan.texts);
      note.textContent = found.hidden
        ? `The ${MOST_NODES} largest of ${p.graph.nodes.length.toLocaleString("en")} values; paths through the others are edges.` : "";
      view.show(found);
    };
    const button = (text, label, act) => element("button", { type: "button", "aria-label": label, onclick: act }, text);
    place.append(element("h2", {}, "The program as a graph"),
      element("p", { class: "faint" }, "Dashed boxes are loops and branches. A frame in bold and the bar at a node's foot: " +
        "how large its tensor is, beside the largest. Click, then turn the wheel to zoom; drag to move."),
      element("div", { class: "bar" }, ...tabs, element("span", { class: "space" }),
        button("+", "zoom in", () => view.zoom(1 / 1.3)), button("−", "zoom out", () => view.zoom(1.3)),
        button("All", "show all of the graph", () => view.fit(true))), drawn, note);
    const first = () => show(plan.programs.length - 1);
    if (!("IntersectionObserver" in window)) return first();
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      seen.disconnect();
      first();
    }, { rootMargin: "400px" });
    seen.observe(drawn);
  }

  /* ---- loops ---- */
  function loop_section(plan, place) {
    if (!plan.loops.length) return;
    place.append(element("h2", {}, "Loops"),
      element("p", { class: "faint" }, "Each runs over the length of a dimension, a slice at a time. The tensor that it stands for is never in memory as a whole."),
      table(["instead of", "#length", "#slice", "#trips", "#ops", "#largest slice", "#predicted", "runs as"], plan.loops.map((l) => ({ cells: [
        element("span", { style: `padding-left: ${18 * l.depth}px` }, l.seed), l.extent.toLocaleString("en"),
        l.slice.toLocaleString("en"), l.trips.toLocaleString("en"), `${l.ops}`, l.kernel ? "–" : bytes(l.largest), l.time ? duration(l.time) : "–",
        l.kernel ? "kernel of weir's" : "loop of XLA's"] }))));
  }

  /* ---- time against limit ---- */
  /* Round sizes between two, at most about seven. */
  function round_sizes(from, to) {
    const all = [];
    const steps = to / from > 500 ? [1] : to / from > 20 ? [1, 3] : [1, 2, 5];
    for (let unit = 10 ** Math.floor(Math.log10(from)); unit <= to; unit *= 10)
      all.push(...steps.map((s) => s * unit).filter((v) => v >= from && v <= to));
    return all;
  }

  function time_chart(plan, place) {
    const points = plan.curve, base = plan.time_before || 1;
    const chart = element("div", { class: "chart", role: "img", "aria-label": "Predicted time against the limit" });
    place.append(chart);
    const times = points.map((p) => p.time / base), mine = plan.time_after / base;
    const most = Math.max(...times, plan.outcome === "refused" ? 0 : mine, 1);
    return new uPlot({
      width: Math.max(240, place.clientWidth), height: 220, legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, distr: 3, range: (_, a, b) => [a / 1.15, b * 1.15] }, y: { range: () => [0, most * 1.12] } },
      axes: [{ ...axis_style(), splits: (_, i, a, b) => round_sizes(a, b), filter: (_, t) => t, values: (_, t) => t.map(bytes) },
        { ...axis_style(), size: 56, values: (_, t) => t.map((v) => `${+v.toPrecision(3)}×`) }],
      series: [{}, { stroke: colour("--accent"), width: 2, points: { show: true, size: 8, fill: colour("--ground") } }],
      hooks: { draw: [(u) => draw_chosen(u, plan, mine)] },
    }, [points.map((p) => p.limit), times], chart);
  }

  function draw_chosen(u, plan, time) {
    if (!plan.limit) return;
    const { ctx, bbox } = u, px = devicePixelRatio, x = u.valToPos(plan.limit, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    const is_right = x > bbox.left + bbox.width * 0.6;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--bad");
    ctx.setLineDash([7 * px, 4 * px]);
    ctx.lineWidth = 1.5 * px;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * px}px system-ui, sans-serif`;
    ctx.textAlign = is_right ? "right" : "left";
    ctx.textBaseline = "top";
    ctx.fillText(`limit ${bytes(plan.limit)}`, x + (is_right ? -6 : 6) * px, bbox.top + 4 * px);
    if (plan.outcome !== "refused") {
      const y = u.valToPos(time, "y", true), r = 6 * px;
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x, y - r); ctx.lineTo(x + r, y); ctx.lineTo(x, y + r); ctx.lineTo(x - r, y);
      ctx.fill();
    }
    ctx.restore();
  }

  function time_section(plan, place) {
    if (plan.curve.length < 2) return null;
    const box = element("div");
    place.append(element("h2", {}, "Time against limit"),
      element("p", { class: "faint" }, "What other limits would cost: the predicted time as a multiple of the program's as it came, by weir's estimates. " +
        "The dashed line is the limit, the diamond what was planned."), box);
    const rows = plan.curve.map((p) => ({ cells: [bytes(p.limit), bytes(p.peak),
      `${(p.time / (plan.time_before || 1)).toPrecision(3)}×`, duration(p.time), p.loops ? `${p.loops}` : "–",
      p.trips ? p.trips.toLocaleString("en") : "–"] }));
    place.append(table(["#limit", "#peak", "#time", "#predicted", "#loops", "#most trips"], rows));
    let chart = time_chart(plan, box);
    return { draw() { chart.destroy(); box.replaceChildren(); chart = time_chart(plan, box); }, get u() { return chart; } };
  }

  /* ---- the head ---- */
  function verdict(plan) {
    const limit = plan.limit ? ` the limit of ${bytes(plan.limit)}` : "";
    const words = {
      refused: ["refused", "Refused", `: nothing holds${limit}. The program would not run.`],
      rewritten: ["held", plan.only_faster ? "Fits" : "Rewritten",
        plan.only_faster ? `, and runs partly as ${plan.loops.some(l => !l.kernel) ? "loops" : "kernels"}.` : limit ? `: it holds${limit}.` : "."],
      options: ["held", "Held", ` by compile options: the program as it is holds${limit}.`],
      untouched: ["held", "Untouched", limit ? `: the program holds${limit} as it is.` : ": no limit was given."],
    };
    const [kind, word, rest] = words[plan.outcome];
    return element("p", { class: "verdict" }, element("span", { class: `word ${kind}` }, word), rest,
      plan.is_unconfirmed ? " Unconfirmed: XLA does not compile it." : "");
  }

  function tiles(plan) {
    const tile = (name, number, note) => element("div", { class: "tile" }, element("div", { class: "name" }, name),
      element("div", { class: "number" }, number), element("div", { class: "note" }, note ?? ""));
    const says = (is_estimate) => (is_estimate ? "weir's estimate" : "XLA reports");
    const found = [tile("Peak before", bytes(plan.peak_before), says(plan.before_is_estimate))];
    if (plan.outcome !== "refused" && plan.outcome !== "untouched") {
      const ratio = plan.peak_before / plan.peak_after;
      found.push(tile("Peak after", bytes(plan.peak_after),
        `${says(plan.after_is_estimate)}${ratio > 1.05 ? `; ${ratio.toPrecision(3)} times less` : ""}`));
    }
    if (plan.limit) found.push(tile("Limit", bytes(plan.limit), "arguments, results, temporaries"));
    if (plan.minimum) found.push(tile("Smallest limit", bytes(plan.minimum), "that was found to hold"));
    if (plan.outcome === "rewritten" && plan.time_before)
      found.push(tile("Predicted time", `${(plan.time_after / plan.time_before).toPrecision(3)}×`, "of the program as it came"));
    if (plan.loops.length) {
      const kernels = plan.loops.filter((l) => l.kernel).length;
      found.push(tile("Loops", `${plan.loops.length}`, kernels ? `${kernels} as weir's kernels` : "that XLA compiles"));
    }
    return element("div", { class: "tiles" }, ...found);
  }

  /* ---- several plans, side by side ---- */
  function answer(plan) {
    if (plan.answer === "refused") return `refused${plan.minimum ? `; holds ${bytes(plan.minimum)}` : ""}`;
    if (plan.answer === "fits") return "fits as it is";
    const trips = plan.loops.reduce((sum, l) => sum + l.trips, 0);
    const how = plan.outcome === "options" ? "by compile options"
      : `with ${count(plan.loops.length, "loop")}, ${count(trips, "trip")}`;
    return `held ${how}${plan.is_unconfirmed ? ", unconfirmed" : ""}`;
  }

  /* Peaks as bars on one scale for all rows. What is above the limit is hatched, and says so. */
  function peak_bars(plan, most) {
    const share = (size) => `${(100 * size / most).toFixed(2)}%`;
    const bar = (name, size) => {
      const over = plan.limit > 0 && size > plan.limit;
      return element("div", { class: "peak" }, element("span", { class: "faint" }, name),
        element("span", { class: "track", "aria-hidden": "true" },
          element("span", { class: over ? "fill is-over" : "fill", style: `width: ${share(size)}` }),
          plan.limit ? element("span", { class: "at-limit", style: `left: ${share(plan.limit)}` }) : null),
        element("span", {}, `${bytes(size)}${over ? ", above" : ""}`));
    };
    return element("div", { class: "peaks" }, bar("before", plan.peak_before),
      plan.answer === "held" ? bar("after", plan.peak_after) : null);
  }

  function comparison(shown, choose) {
    const plans = parts.map((p) => p.plan), are_devices = plans.some((p) => p.device);
    const most = Math.max(...plans.flatMap((p) => [p.limit, p.peak_before, p.peak_after]), 1);
    const judges = (p) => (p.before_is_estimate && p.after_is_estimate ? "weir's estimate" : "XLA reports");
    const name = ({ title, plan }) => element("div", {}, element("b", {}, title),
      plan.device_bytes ? element("div", { class: "faint" }, bytes(plan.device_bytes)) : null);
    const rows = parts.map((p, i) => ({ attributes: i === shown ? { class: "is-shown" } : {}, cells: [name(p),
      element("div", {}, element("span", { class: `word ${p.plan.answer === "refused" ? "refused" : "held"}` }, answer(p.plan)),
        element("div", { class: "faint" }, judges(p.plan))),
      peak_bars(p.plan, most), p.plan.limit ? bytes(p.plan.limit) : "–",
      p.plan.answer !== "refused" && p.plan.time_after ? duration(p.plan.time_after) : "–",
      element("button", { type: "button", "aria-pressed": i === shown, onclick: () => choose(i) },
        i === shown ? "Shown" : "Show")] }));
    return element("section", { id: "side-by-side" },
      element("p", { class: "faint" }, "Bars are peaks, all on one scale; the line across is the limit, and what is above it is hatched. " +
        "Below is the one that is shown."),
      table([are_devices ? "device" : "plan", "does it fit", "peak", "limit", "predicted", ""], rows));
  }

  function refusal(plan) {
    if (plan.outcome !== "refused") return [];
    return [element("h2", {}, "What stands in the way"), element("pre", { class: "wall" }, plan.message)];
  }

  /* ---- the page ---- */
  const parts = JSON.parse(document.getElementById("plans").textContent);
  const page = document.getElementById("page");
  let redraw = () => {}, shown = 0;
  function choose(i) {
    shown = i;
    build();
    document.querySelectorAll("#side-by-side button")[i].focus();
  }
  function build() {
    const { title, plan } = parts[shown];
    const head = parts.length === 1 ? [element("h1", {}, title)]
      : [element("h1", {}, document.title), comparison(shown, choose), element("h2", { id: "shown" }, title)];
    const memory = element("section", { id: "memory" }), graph = element("section", { id: "graph" });
    const loops = element("section", { id: "loops" }), time = element("section", { id: "time" });
    page.replaceChildren(...head, verdict(plan), tiles(plan), ...refusal(plan), memory, loops, time, graph,
      element("footer", {}, `weir ${plan.version}. ${count(plan.programs[0].graph.nodes.length, "value")} in the program as it came. ` +
        "Times are predictions, good for comparing. This page needs no network."));
    const m = memory_section(plan, memory);
    loop_section(plan, loops);
    const t = time_section(plan, time);
    graph_section(plan, graph);
    redraw = () => { m.draw(); t?.draw(); };
    window.weir_page = { charts: () => m.charts.map((c) => c.u), time: () => t?.u };
  }
  build();
  let width = page.clientWidth, waiting;
  window.addEventListener("resize", () => {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => redraw(), 120);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
})();
