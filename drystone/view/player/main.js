// The page: one clock, its controls, a panel for each replay, and what was clicked.

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const find = (id) => document.getElementById(id);

class Player {
  constructor(page, replays) {
    Object.assign(this, { page, replays });
    this.start = Math.min(...replays.map((r) => r.start));
    this.end = Math.max(...replays.map((r) => r.end));
    this.time = this.start;
    Object.assign(this, { playing: false, loop: true, speed: page.speed || 1, dirty: true });
    this.show = { forces: false, grid: true, chosen: null };
    this.slow = 0;
    this.views = {};
    this.panels = replays.map((replay) => this.panel(replay));
    this.plots = makePlots(find("plots"), replays, (t) => this.seek(t));
    find("plots").hidden = !this.plots.length;
    this.heading();
    this.controls();
    addEventListener("keydown", (event) => this.key(event));
    this.arrange();
    addEventListener("resize", () => this.arrange());
    requestAnimationFrame((now) => this.tick(now, now));
  }

  panel(replay) {
    const holder = document.createElement("section"), canvas = document.createElement("canvas");
    holder.append(canvas);
    find("stage").append(holder);
    if (this.replays.length > 1) {
      const label = document.createElement("h2");
      label.textContent = replay.label;
      holder.append(label);
    }
    const planar = replay.dim === 2;
    this.views[replay.dim] ??= planar ? new Sheet(replay) : new Orbit(replay);
    const view = this.views[replay.dim];
    const picture = new (planar ? PlanarPicture : SpatialPicture)(canvas, replay, view);
    handle(canvas, view, () => { this.dirty = true; }, (x, y) => this.choose(picture.pick(x, y)));
    canvas.addEventListener("dblclick", () => this.home());
    return { replay, picture, canvas };
  }

  // Side by side, one below the other, or both: however things are seen largest.
  arrange() {
    const { clientWidth: wide, clientHeight: tall } = find("stage"), n = this.panels.length;
    const [view] = Object.values(this.views);
    let best = 0, most = 0;
    for (let columns = n; columns > 0; columns--) {
      const rows = Math.ceil(n / columns), size = view.largeness(wide / columns, tall / rows);
      if (size > 1.02 * most) [best, most] = [columns, size];
    }
    find("stage").style.setProperty("--columns", best || 1);
    this.dirty = true;
  }

  heading() {
    const { page } = this;
    find("title").textContent = page.title;
    find("about").textContent = page.about;
    const exact = this.replays.map((r) => r.exact).reduce((a, b) => Math.max(a, b), 0);
    find("version").textContent = `Drystone ${page.version}`;
    find("version").title = `places to ${number(exact, "m")}, angles to 5·10⁻⁵`;
    const forces = this.replays.some((r) => r.contacts && r.contacts.count);
    find("forces").hidden = !forces;
    const strongest = Math.max(...this.replays.map((r) => r.strongest));
    find("force-most").textContent = number(strongest, "N");
    const read = new Set(this.replays.map((r) => r.contacts && r.contacts.read).filter(Boolean));
    find("force-read").textContent = read.size ? ` (${[...read].join(", ")})` : "";
  }

  controls() {
    const on = (id, act) => find(id).addEventListener("click", () => { act(); find(id).blur(); });
    on("play", () => this.toggle());
    on("back", () => this.step(-1));
    on("next", () => this.step(1));
    on("loop", () => { this.loop = !this.loop; this.dirty = true; });
    on("forces", () => { this.show.forces = !this.show.forces; this.dirty = true; });
    on("grid", () => { this.show.grid = !this.show.grid; this.dirty = true; });
    on("home", () => this.home());
    on("full", () => (document.fullscreenElement
      ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
    const bar = find("scrub");
    bar.addEventListener("input", () =>
      this.seek(this.start + Number(bar.value) * (this.end - this.start)));
    const speed = find("speed");
    for (const s of SPEEDS) speed.add(new Option(`${s}×`, s, s === 1, s === this.speed));
    speed.addEventListener("change", () => { this.speed = Number(speed.value); speed.blur(); });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 10 : 1, k = SPEEDS.indexOf(this.speed);
    const act = {
      " ": () => this.toggle(), k: () => this.toggle(), f: () => find("forces").click(),
      g: () => find("grid").click(), l: () => find("loop").click(), r: () => this.home(),
      ArrowLeft: () => this.step(-far), ArrowRight: () => this.step(far),
      Home: () => this.seek(this.start), End: () => this.seek(this.end),
      "+": () => this.faster(k + 1), "-": () => this.faster(k - 1), Escape: () => this.choose(null),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  faster(k) {
    this.speed = SPEEDS[Math.min(Math.max(k, 0), SPEEDS.length - 1)];
    find("speed").value = this.speed;
  }

  toggle() {
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.playing = !this.playing;
    this.dirty = true;
  }

  seek(t) {
    this.time = Math.min(Math.max(t, this.start), this.end);
    this.dirty = true;
  }

  step(frames) {
    this.playing = false;
    const replay = this.replays.reduce((a, b) => (b.n > a.n ? b : a));
    const [k, share] = replay.frame(this.time), back = frames < 0 && share > 0 ? 1 : 0;
    this.seek(replay.time[Math.min(Math.max(k + frames + back, 0), replay.n - 1)]);
  }

  home() {
    Object.values(this.views).forEach((view) => view.reset());
    this.dirty = true;
  }

  choose(body) {
    this.show.chosen = body;
    this.dirty = true;
  }

  tick(now, before) {
    if (this.playing) {
      this.time += (this.speed * Math.min(now - before, 100)) / 1000;
      if (this.time >= this.end && this.loop) this.time = this.start;
      else if (this.time >= this.end) { this.time = this.end; this.playing = false; }
      this.spare(now - before);
      this.dirty = true;
    }
    if (this.dirty) this.draw();
    requestAnimationFrame((next) => this.tick(next, now));
  }

  // Where the machine cannot keep up, the pictures become simpler.
  spare(took) {
    this.slow = took > 45 ? this.slow + 1 : Math.max(0, this.slow - 1);
    if (this.slow < 12) return;
    this.slow = 0;
    for (const { picture } of this.panels)
      if (picture.quality > 0) picture.quality -= 1;
  }

  draw() {
    this.dirty = false;
    for (const { picture, replay } of this.panels) {
      const chosen = this.show.chosen !== null && this.show.chosen < replay.nb;
      picture.draw(Math.min(this.time, replay.end), {
        ...this.show, chosen: chosen ? this.show.chosen : null });
    }
    for (const plot of this.plots) plot.draw(this.time);
    find("scrub").value = (this.time - this.start) / (this.end - this.start || 1);
    find("scrub").style.setProperty("--done", `${100 * find("scrub").value}%`);
    find("clock").textContent = `${this.time.toFixed(2)} / ${this.end.toFixed(2)} s`;
    document.body.classList.toggle("playing", this.playing);
    find("play").setAttribute("aria-label", this.playing ? "pause" : "play");
    for (const [id, on] of [["loop", this.loop], ["forces", this.show.forces], ["grid", this.show.grid]])
      find(id).setAttribute("aria-pressed", on);
    find("key").hidden = !this.show.forces;
    this.tell();
  }

  // The numbers of the chosen body, a column for each replay that has it.
  tell() {
    const card = find("card"), b = this.show.chosen;
    card.hidden = b === null;
    if (b === null) return;
    const rows = [];
    for (const replay of this.replays.filter((r) => b < r.nb)) {
      const t = Math.min(this.time, replay.end), { dim } = replay;
      const place = [...replay.place.subarray(b * dim, (b + 1) * dim)].map((x) => number(x)).join(", ");
      const lines = replay.forces(t).filter((line) => line.a === b || line.b === b);
      if (this.replays.length > 1) rows.push([replay.label, ""]);
      rows.push(["mass", replay.free[b] ? number(replay.mass[b], "kg") : "fixed or prescribed"]);
      rows.push(["centre", `${place} m`], ["speed", number(replay.speed(b, t), "m/s")]);
      if (replay.contacts) {
        const sum = lines.reduce((s, line) => s + line.size, 0);
        rows.push(["touching bodies", String(lines.length)], ["contact forces", number(sum, "N")]);
        if (replay.contacts.read) rows.push(["forces", replay.contacts.read]);
      }
    }
    find("name").textContent = this.replays.find((r) => b < r.nb).names[b];
    find("facts").replaceChildren(...rows.flatMap(([term, fact]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term;
      dd.textContent = fact;
      return [dt, dd];
    }));
  }
}

async function open() {
  try {
    const page = JSON.parse(find("replays").textContent);
    const replays = [];
    for (let i = 0; i < page.replays.length; i++) {
      const holder = find(`data-${i}`);
      replays.push(new Replay(page.replays[i], await inflate(holder.textContent)));
      holder.remove();
    }
    window.player = new Player(page, replays);
    document.body.classList.add("ready");
    if (page.play) window.player.toggle();
  } catch (error) {
    find("trouble").hidden = false;
    find("trouble").textContent = `This replay cannot be shown: ${error.message}.`;
    throw error;
  }
}
open();
